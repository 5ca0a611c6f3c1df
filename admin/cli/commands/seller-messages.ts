import { InvalidArgumentError, Option } from 'commander';
import * as v from 'valibot';
import { sellerNamed } from '#admin/operations/lookup.ts';
import { setSellerTemplates, type TemplateChange, templatesOf } from '#admin/operations/seller-templates.ts';
import type { Seller } from '#admin/stores/seller-store.ts';
import {
  DEFAULT_LOCALE,
  LOCALES,
  type Locale,
  sellerTemplatesSchema,
  TEMPLATE_PROVIDERS,
  type TemplateProvider,
} from '#shared/sms/templates.ts';
import type { CommandResult, Session } from '../command.ts';
import { UsageError } from '../errors.ts';
import type { Table } from '../render.ts';

type Templates = TemplateChange['set'];

interface MessagesOptions {
  readonly template?: Templates;
  readonly remove?: readonly TemplateProvider[];
  readonly locale?: Locale;
}

const isTemplateOf = (provider: TemplateProvider, template: string | number): boolean =>
  v.is(sellerTemplatesSchema, { [provider]: { [DEFAULT_LOCALE]: template } });

/** Parses `kavenegar=kaveh-books` or `sms-ir=200001`; adds it to those given before. */
const collectTemplate = (text: string, before: Templates = {}): Templates => {
  const [name = '', ...rest] = text.split('=');
  const given = rest.join('=');
  const provider = TEMPLATE_PROVIDERS.find((known) => known === name);
  const forms = [given, ...(/^\d{1,15}$/.test(given) ? [Number(given)] : [])];
  const template = forms.find((value) => provider && isTemplateOf(provider, value));
  if (provider === undefined || template === undefined) {
    throw new InvalidArgumentError(
      'It must be like kavenegar=kaveh-books or sms-ir=200001: a name of up to 64 letters, digits, - _ or ., or a number.',
    );
  }
  return { ...before, [provider]: template };
};

/** Parses the name of a provider; adds it to those given before. */
const collectProvider = (text: string, before: readonly TemplateProvider[] = []): TemplateProvider[] => {
  const provider = TEMPLATE_PROVIDERS.find((known) => known === text);
  if (provider === undefined) {
    throw new InvalidArgumentError(`The providers are ${TEMPLATE_PROVIDERS.join(', ')}.`);
  }
  return [...before, provider];
};

/** The options of `sellers messages`. */
export const templateOptions = (): readonly Option[] => [
  new Option(
    '--template <provider=template>',
    'set a template: a name at kavenegar, a number at sms-ir',
  ).argParser(collectTemplate),
  new Option('--remove <provider>', "go back to the stage's template of a provider")
    .choices([...TEMPLATE_PROVIDERS])
    .argParser(collectProvider),
  new Option('--locale <language>', 'the language of --template and --remove (default: fa)').choices([
    ...LOCALES,
  ]),
];

export const templateTable = (rows: ReturnType<typeof templatesOf>): Table => ({
  items: 'templates of its own',
  rows,
  fields: ['provider', 'locale', 'template'],
});

const shown = (seller: Seller, note: string): CommandResult => {
  const templates = templatesOf(seller);
  return { json: { seller_id: seller.seller_id, templates }, text: templateTable(templates), note };
};

/** `sellers messages` */
export const messages = async (
  { admin, confirm }: Session,
  text: string,
  { template: set = {}, remove = [], locale }: MessagesOptions,
): Promise<CommandResult> => {
  const seller = await sellerNamed(admin, text);
  if (Object.keys(set).length + remove.length === 0) {
    if (locale !== undefined) throw new UsageError('--locale needs --template or --remove.');
    return shown(seller, "All other messages follow the stage's templates.");
  }
  const both = remove.find((provider) => provider in set);
  if (both !== undefined) throw new UsageError(`Either set or remove the template of ${both}.`);
  const language = locale ?? DEFAULT_LOCALE;
  if (remove.length > 0) {
    await confirm(
      `Send the codes of ${seller.seller_id} (${seller.name}) in ${language} without its own template of ${remove.join(' and ')}?`,
    );
  }
  const changed = await setSellerTemplates(admin, seller.seller_id, { locale: language, set, remove });
  return shown(
    changed,
    'The provider refuses a template that it does not have. Send a code to your own phone.',
  );
};
