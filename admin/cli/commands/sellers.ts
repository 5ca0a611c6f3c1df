import { InvalidArgumentError, Option } from 'commander';
import * as v from 'valibot';
import { deleteSeller, requireUnused } from '#admin/operations/delete-seller.ts';
import { searchSellers, sellerNamed, sellersOfName } from '#admin/operations/lookup.ts';
import {
  createSeller,
  renameSeller,
  requireName,
  setSellerStatus,
  setSellerTemplates,
  type TemplateChange,
  templatesOf,
} from '#admin/operations/sellers.ts';
import { type Seller, usersOf } from '#admin/stores/seller-store.ts';
import {
  DEFAULT_LOCALE,
  LOCALES,
  type Locale,
  sellerTemplatesSchema,
  TEMPLATE_PROVIDERS,
  type TemplateProvider,
} from '#shared/sms/templates.ts';
import type { AddCommands, CommandResult, Session } from '../command.ts';
import type { View } from '../render.ts';
import { keyTable, readKeyViews } from '../views.ts';

const sellerView = (seller: Seller) => ({
  seller_id: seller.seller_id,
  name: seller.name,
  status: seller.status,
  users: usersOf(seller),
  created_at: seller.created_at,
});

const sellerTable = (sellers: readonly Seller[]): View => ({
  items: 'sellers',
  rows: sellers.map(sellerView),
  fields: ['seller_id', 'name', 'status', 'users', 'created_at'],
  terminalFields: ['seller_id', 'name', 'status', 'users'],
});

const shown = (seller: Seller): CommandResult => ({
  json: sellerView(seller),
  text: { rows: [sellerView(seller)] },
});

/** Asks before a name that another seller has: commands then take the id of either only. */
const requireUniqueName = async ({ admin, requireYes }: Session, name: string, except?: string) => {
  const others = await sellersOfName(admin, name, except);
  if (others.length === 0) return;
  const ids = others.map(({ seller_id }) => seller_id).join(', ');
  await requireYes(`The name ${name} is that of ${ids}. Use it for another seller too?`);
};

const create = async (session: Session, text: string) => {
  const name = requireName(text);
  await requireUniqueName(session, name);
  return shown(await createSeller(session.admin, name));
};

const rename = async (session: Session, seller: string, text: string) => {
  const { seller_id } = await sellerNamed(session.admin, seller);
  const name = requireName(text);
  await requireUniqueName(session, name, seller_id);
  return shown(await renameSeller(session.admin, seller_id, name));
};

const list = async ({ admin }: Session, { search }: { search?: string }) => {
  const sellers = await searchSellers(admin, search);
  return { json: { sellers: sellers.map(sellerView) }, text: sellerTable(sellers) };
};

const templateTable = (templates: ReturnType<typeof templatesOf>): View => ({
  items: 'templates of its own',
  // The number of a template is a name: without separators of thousands.
  rows: templates.map((each) => ({ ...each, template: String(each.template) })),
  fields: ['provider', 'locale', 'template'],
});

const show = async ({ admin }: Session, text: string) => {
  const seller = await sellerNamed(admin, text);
  const keys = await readKeyViews(admin, await admin.keys.listOf(seller.seller_id));
  const templates = templatesOf(seller);
  const parts = [{ rows: [sellerView(seller)] }, keyTable(keys)];
  return {
    json: { ...sellerView(seller), keys, templates },
    text: templates.length === 0 ? parts : [...parts, templateTable(templates)],
  };
};

const suspend = async ({ admin, requireYes }: Session, text: string) => {
  const { seller_id, name } = await sellerNamed(admin, text);
  await requireYes(`Suspend ${seller_id} (${name})? Every request with its keys will be refused.`);
  return shown(await setSellerStatus(admin, seller_id, 'suspended'));
};

const resume = async ({ admin }: Session, text: string) =>
  shown(await setSellerStatus(admin, (await sellerNamed(admin, text)).seller_id, 'active'));

const remove = async ({ admin, requireYes }: Session, text: string): Promise<CommandResult> => {
  const { seller_id, name } = await sellerNamed(admin, text);
  await requireUnused(admin, seller_id);
  await requireYes(`Delete ${seller_id} (${name}) for good?`);
  await deleteSeller(admin, seller_id);
  const note = `Its audit stays: audit ${seller_id}`;
  return { json: { seller_id, deleted: true }, text: `Deleted ${seller_id}.\n`, note };
};

type Templates = TemplateChange['set'];

interface MessagesOptions {
  readonly template?: Templates;
  readonly remove?: readonly TemplateProvider[];
  readonly locale: Locale;
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

const shownMessages = (seller: Seller, note: string): CommandResult => {
  const templates = templatesOf(seller);
  return { json: { seller_id: seller.seller_id, templates }, text: templateTable(templates), note };
};

const messages = async (
  { admin, requireYes }: Session,
  text: string,
  { template: set = {}, remove = [], locale }: MessagesOptions,
): Promise<CommandResult> => {
  const seller = await sellerNamed(admin, text);
  const { seller_id, name } = seller;
  if (Object.keys(set).length + remove.length === 0) {
    return shownMessages(seller, "All other messages follow the stage's templates.");
  }
  if (remove.length > 0) {
    const without = `without its own template of ${remove.join(' and ')}`;
    await requireYes(`Send the codes of ${seller_id} (${name}) in ${locale} ${without}?`);
  }
  return shownMessages(
    await setSellerTemplates(admin, seller_id, { locale, set, remove }),
    'The provider refuses a template that it does not have. Send a code to your own phone.',
  );
};

/** `sellers create|list|show|rename|messages|suspend|resume|delete` */
export const addSellerCommands: AddCommands = ({ group }) => {
  const add = group('sellers', 'manage sellers');
  add('create <name>', 'create a seller', create, 'sellers create "Kaveh Books"');
  const searched = 'only those whose name or id contains this';
  add('list', 'list all sellers, oldest first', list).option('--search <text>', searched);
  const named = ['sellers show sel_…', 'sellers show "Kaveh Books"'];
  add('show <seller>', 'show a seller and its keys', show, ...named);
  add('rename <seller> <name>', 'give a seller another name', rename);
  const messagesHelp = "show or choose the templates of a seller's messages";
  const example = 'sellers messages sel_… --template sms-ir=200002 --locale en';
  const command = add('messages <seller>', messagesHelp, messages, example);
  const template = new Option('--template <provider=template>', 'a name at kavenegar, a number at sms-ir');
  const removed = new Option('--remove <provider...>', "go back to the stage's template of a provider");
  const locale = new Option('--locale <language>', 'the language of --template and --remove');
  command
    .addOption(template.argParser(collectTemplate))
    .addOption(removed.choices(TEMPLATE_PROVIDERS).conflicts('template'))
    .addOption(locale.choices(LOCALES).default(DEFAULT_LOCALE));
  add('suspend <seller>', 'refuse all keys of a seller, at once', suspend);
  add('resume <seller>', 'accept the keys of a suspended seller again', resume);
  add('delete <seller>', 'delete a seller that has no users and no active keys', remove);
};
