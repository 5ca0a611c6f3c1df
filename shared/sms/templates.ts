/** The templates of messages. They are approved at a provider, which sends their text with the code in it. */
import * as v from 'valibot';

export const LOCALES = ['fa', 'en'] as const;

export type Locale = (typeof LOCALES)[number];

/** The language of a request that names none, and of the templates that every stage has. */
export const DEFAULT_LOCALE = 'fa' satisfies Locale;

const nameSchema = v.pipe(v.string(), v.regex(/^[\p{L}\p{N}._-]{1,64}$/u));

export const templateIdSchema = v.pipe(v.number(), v.integer(), v.minValue(1));

const byLocale = <Template extends v.GenericSchema>(template: Template) =>
  v.optional(v.object({ fa: v.optional(template), en: v.optional(template) }));

/** Provider -> language -> template. */
export const sellerTemplatesSchema = v.object({
  kavenegar: byLocale(nameSchema),
  'sms-ir': byLocale(templateIdSchema),
});

export const TEMPLATE_PROVIDERS = ['kavenegar', 'sms-ir'] as const satisfies (keyof SellerTemplates)[];

export type TemplateProvider = (typeof TEMPLATE_PROVIDERS)[number];

export type SellerTemplates = v.InferOutput<typeof sellerTemplatesSchema>;

type Templates<Template> = Partial<Readonly<Record<Locale, Template | undefined>>>;

/** The seller's own template before the stage's; for a language without one, the Persian ones in the same order. */
export const templateFor = <Template>(
  locale: Locale,
  own: Templates<Template> | undefined,
  stage: Templates<Template> & Readonly<Record<typeof DEFAULT_LOCALE, Template>>,
): Template => own?.[locale] ?? stage[locale] ?? own?.[DEFAULT_LOCALE] ?? stage[DEFAULT_LOCALE];
