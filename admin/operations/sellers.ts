import * as v from 'valibot';
import { AdminError } from '#admin/admin-error.ts';
import { type Administration, newId, requireSeller } from '#admin/administration.ts';
import type { Seller, SellerChange, SellerStatus } from '#admin/stores/seller-store.ts';
import type { NewAuditRecord } from '#shared/audit.ts';
import { personalIn } from '#shared/log.ts';
import {
  LOCALES,
  type Locale,
  type SellerTemplates,
  sellerTemplatesSchema,
  TEMPLATE_PROVIDERS,
  type TemplateProvider,
} from '#shared/sms/templates.ts';
import { parseDisplayName } from '#shared/values/display-name.ts';
import { parsePhone } from '#shared/values/phone.ts';
import { bringToGateway, flushAfterChange, rewriteSecrets } from './key-state.ts';

/** Returns the name of a seller or key as it is stored. Throws `bad_input` if it is not allowed. */
export const requireName = (text: string): string => {
  const name = parseDisplayName(text);
  if (name === undefined) {
    throw new AdminError(
      'bad_input',
      'A name must have 1 to 100 visible characters and no control or invisible characters.',
    );
  }
  // Other numbers may be a year or a branch.
  const isPersonal = (part: string) =>
    /^[a-z]/i.test(part) || parsePhone(part.replace(/\P{Nd}/gu, '')) !== undefined;
  if (personalIn(name).some(isPersonal)) {
    throw new AdminError('bad_input', 'A name must not contain a secret or a phone: the audit keeps it.');
  }
  return name;
};

/** Creates a seller: active, without keys. */
export const createSeller = async (admin: Administration, name: string): Promise<Seller> => {
  const seller: Seller = {
    seller_id: newId('sel'),
    name: requireName(name),
    status: 'active',
    user_count: 0,
    removed_count: 0,
    event_count: 0,
    created_at: admin.now(),
  };
  const details = { name: seller.name };
  const record = admin.record({ action: 'seller.created', seller_id: seller.seller_id, details });
  await admin.sellers.create(seller, record);
  return seller;
};

/**
 * Changes a seller as it was read, with the audit record in the same transaction. Throws `changed_meanwhile` if the attribute `unchanged`
 * has changed since.
 */
const changeSeller = async (
  admin: Administration,
  seller: Seller,
  { action, details, ...change }: SellerChange & Pick<NewAuditRecord, 'action' | 'details'>,
): Promise<Seller> => {
  const { seller_id } = seller;
  const record = admin.record({ action, seller_id, details });
  if (await admin.sellers.change(seller, change, record)) return { ...seller, ...change.attributes };
  throw new AdminError('changed_meanwhile', `Another admin is changing ${seller_id}. Try again.`);
};

/** Renames a seller. The same name again changes nothing and writes no audit record. */
export const renameSeller = async (
  admin: Administration,
  sellerId: string,
  name: string,
): Promise<Seller> => {
  const seller = await requireSeller(admin, sellerId);
  if (seller.name === name) return seller;
  const details = { from: seller.name, to: name };
  const change = { attributes: { name }, unchanged: 'name' } as const;
  return changeSeller(admin, seller, { ...change, action: 'seller.renamed', details });
};

const ACTIONS = { suspended: 'seller.suspended', active: 'seller.resumed' } as const;

/**
 * Suspends a seller, which makes all its keys invalid, or resumes it. The seller's item is written first: from then on no key can be
 * issued for a suspended seller. Then follow its secrets, after a suspension the authorizer cache, and its keys in API Gateway. Running it
 * again finishes what was interrupted; the audit gets one record.
 */
export const setSellerStatus = async (
  admin: Administration,
  sellerId: string,
  status: SellerStatus,
): Promise<Seller> => {
  const before = await requireSeller(admin, sellerId);
  // The authorizer's refusals are not cached, so a resumed seller needs no flush.
  const attributes = { status, ...(status === 'suspended' && { unflushed_since: admin.now() }) };
  const change = { attributes, unchanged: 'status', action: ACTIONS[status] } as const;
  const seller = before.status === status ? before : await changeSeller(admin, before, change);
  const keys = (await admin.keys.listOf(sellerId)).filter((key) => key.status !== 'pending');
  for (const key of keys) await rewriteSecrets(admin, key);
  if (seller.unflushed_since !== undefined) await flushAfterChange(admin, seller);
  for (const key of keys) await bringToGateway(admin, key);
  return seller;
};

/** A change of the templates of one language: those to set by provider, and the providers that go back to the stage's. */
export interface TemplateChange {
  readonly locale: Locale;
  readonly set: Readonly<Partial<Record<TemplateProvider, string | number>>>;
  readonly remove: readonly TemplateProvider[];
}

/** Returns the templates that a seller has of its own: a name at Kavenegar, a number at SMS.ir. */
export const templatesOf = ({ message_templates: own = {} }: Pick<Seller, 'message_templates'>) =>
  TEMPLATE_PROVIDERS.flatMap((provider) =>
    LOCALES.flatMap((locale) => {
      const template = own[provider]?.[locale];
      return template === undefined ? [] : [{ provider, locale, template }];
    }),
  );

const templatesText = (message_templates: SellerTemplates | undefined): string =>
  templatesOf({ message_templates })
    .map(({ provider, locale, template }) => `${provider} ${locale} ${template}`)
    .join('; ') || 'none';

const changedTemplates = (before: SellerTemplates, { locale, set, remove }: TemplateChange) => {
  const after = TEMPLATE_PROVIDERS.map((provider) => {
    const { [locale]: template, ...others } = before[provider] ?? {};
    const wanted = set[provider] ?? (remove.includes(provider) ? undefined : template);
    return [provider, wanted === undefined ? others : { ...others, [locale]: wanted }];
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
  const message_templates = changedTemplates(before.message_templates ?? {}, change);
  const details = { from: templatesText(before.message_templates), to: templatesText(message_templates) };
  if (details.from === details.to) return before;
  const templates = { attributes: { message_templates }, unchanged: 'message_templates' } as const;
  return changeSeller(admin, before, { ...templates, action: 'seller.templates_set', details });
};
