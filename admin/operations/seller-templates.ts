import * as v from 'valibot';
import { type Administration, requireSeller, step } from '#admin/administration.ts';
import { refusal } from '#admin/refusal.ts';
import type { Seller } from '#admin/stores/seller-store.ts';
import {
  LOCALES,
  type Locale,
  type SellerTemplates,
  sellerTemplatesSchema,
  TEMPLATE_PROVIDERS,
  type TemplateProvider,
} from '#shared/sms/templates.ts';

/** A template that a seller has of its own: a name at Kavenegar, a number at SMS.ir. */
export interface OwnTemplate {
  readonly provider: TemplateProvider;
  readonly locale: Locale;
  readonly template: string | number;
}

/** A change of the templates of one language: those to set by provider, and the providers that go back to the stage's. */
export interface TemplateChange {
  readonly locale: Locale;
  readonly set: Readonly<Partial<Record<TemplateProvider, string | number>>>;
  readonly remove: readonly TemplateProvider[];
}

/** Returns the templates that a seller has of its own. */
export const templatesOf = ({ message_templates: own = {} }: Seller): readonly OwnTemplate[] =>
  TEMPLATE_PROVIDERS.flatMap((provider) =>
    LOCALES.flatMap((locale) => {
      const template = own[provider]?.[locale];
      return template === undefined ? [] : [{ provider, locale, template }];
    }),
  );

const templatesText = (seller: Seller): string =>
  templatesOf(seller)
    .map(({ provider, locale, template }) => `${provider} ${locale} ${template}`)
    .join('; ') || 'none';

const changedTemplates = (before: SellerTemplates, { locale, set, remove }: TemplateChange) => {
  const after = TEMPLATE_PROVIDERS.map((provider) => {
    const own: Partial<Record<Locale, string | number>> = { ...before[provider] };
    if (remove.includes(provider)) delete own[locale];
    return [provider, { ...own, ...(provider in set ? { [locale]: set[provider] } : {}) }];
  });
  return v.parse(sellerTemplatesSchema, Object.fromEntries(after));
};

/**
 * Changes the templates that the codes of a seller follow from the next send on. The provider is not asked whether it has them. Throws
 * `changed_meanwhile` if another admin changes them at the same moment.
 */
export const setSellerTemplates = async (
  admin: Administration,
  sellerId: string,
  change: TemplateChange,
): Promise<Seller> => {
  const before = await requireSeller(admin, sellerId);
  const templates = changedTemplates(before.message_templates ?? {}, change);
  const after = { ...before, message_templates: templates };
  const [from, to] = [templatesText(before), templatesText(after)];
  if (from === to) return before;
  const record = admin.record({
    action: 'seller.templates_set',
    seller_id: sellerId,
    details: { from, to },
  });
  const isWritten = await step(admin, 'templates: write the seller', () =>
    admin.sellers.setTemplates(before, templates, record),
  );
  if (!isWritten) {
    throw refusal('changed_meanwhile', `Another admin is changing the templates of ${sellerId}. Try again.`);
  }
  return after;
};
