import type { Administration } from '#admin/administration.ts';
import { createSeller, renameSeller, requireName } from '#admin/operations/create-seller.ts';
import { searchSellers, sellerNamed, sellersOfName } from '#admin/operations/lookup.ts';
import { setSellerStatus } from '#admin/operations/set-seller-status.ts';
import type { Seller } from '#admin/stores/seller-store.ts';
import { type AddCommands, addCommand, type CommandResult, type Session } from '../command.ts';
import { keyTable, readKeyViews, sellerTable, sellerView } from '../views.ts';

const shown = (seller: Seller): CommandResult => ({ json: sellerView(seller), text: sellerTable([seller]) });

/** Returns a seller that has got a new name, with a warning if others have the same name. */
const shownWithName = async (admin: Administration, seller: Seller): Promise<CommandResult> => {
  const others = await sellersOfName(admin, seller.name, seller.seller_id);
  if (others.length === 0) return shown(seller);
  const ids = others.map(({ seller_id }) => seller_id).join(', ');
  return { ...shown(seller), note: `warning: this name is not unique: ${ids}.` };
};

const create = async ({ admin }: Session, _options: object, name: string): Promise<CommandResult> =>
  shownWithName(admin, await createSeller(admin, name));

const rename = async (
  { admin }: Session,
  _options: object,
  seller: string,
  name: string,
): Promise<CommandResult> => {
  const { seller_id } = await sellerNamed(admin, seller);
  return shownWithName(admin, await renameSeller(admin, seller_id, requireName(name)));
};

const list = async ({ admin }: Session, { search }: { search?: string }): Promise<CommandResult> => {
  const sellers = await searchSellers(admin, search);
  return { json: { sellers: sellers.map(sellerView) }, text: sellerTable(sellers) };
};

const show = async ({ admin }: Session, _options: object, text: string): Promise<CommandResult> => {
  const seller = await sellerNamed(admin, text);
  const keys = await readKeyViews(admin, await admin.keys.listOf(seller.seller_id));
  return { json: { ...sellerView(seller), keys }, text: [sellerTable([seller]), keyTable(keys)] };
};

const suspend = async (
  { admin, confirm }: Session,
  _options: object,
  text: string,
): Promise<CommandResult> => {
  const { seller_id, name } = await sellerNamed(admin, text);
  await confirm(`Suspend ${seller_id} (${name})? Every request with its keys will be refused.`);
  return shown(await setSellerStatus(admin, seller_id, 'suspended'));
};

const resume = async ({ admin }: Session, _options: object, text: string): Promise<CommandResult> =>
  shown(await setSellerStatus(admin, (await sellerNamed(admin, text)).seller_id, 'active'));

/** `sellers create|list|show|rename|suspend|resume` */
export const addSellerCommands: AddCommands = (program, act) => {
  const sellers = program.command('sellers').description('manage sellers');
  addCommand(sellers, 'create <name>', 'create a seller', 'sellers create "Kaveh Books"').action(act(create));
  addCommand(sellers, 'list', 'list all sellers, oldest first', 'sellers list --search books')
    .option('--search <text>', 'only those whose name or id contains this')
    .action(act(list));
  addCommand(
    sellers,
    'show <seller>',
    'show a seller and its keys',
    'sellers show sel_…',
    'sellers show "Kaveh Books"',
  ).action(act(show));
  addCommand(
    sellers,
    'rename <seller> <name>',
    'give a seller another name',
    'sellers rename sel_… "Kaveh"',
  ).action(act(rename));
  addCommand(
    sellers,
    'suspend <seller>',
    'refuse all keys of a seller, at once',
    'sellers suspend sel_… --yes',
  ).action(act(suspend));
  addCommand(
    sellers,
    'resume <seller>',
    'accept the keys of a suspended seller again',
    'sellers resume sel_…',
  ).action(act(resume));
};
