import type { Administration } from '#admin/administration.ts';
import { createSeller, renameSeller, requireName } from '#admin/operations/create-seller.ts';
import { searchSellers, sellerNamed, sellersOfName } from '#admin/operations/lookup.ts';
import { templatesOf } from '#admin/operations/seller-templates.ts';
import { setSellerStatus } from '#admin/operations/set-seller-status.ts';
import type { Seller } from '#admin/stores/seller-store.ts';
import type { AddCommands, CommandResult, Session } from '../command.ts';
import { keyTable, readKeyViews, sellerTable, sellerView } from '../views.ts';
import { messages, templateOptions, templateTable } from './seller-messages.ts';

const shown = (seller: Seller): CommandResult => ({ json: sellerView(seller), text: sellerTable([seller]) });

/** Returns a seller that has got a new name, with a warning if others have the same name. */
const shownWithName = async (admin: Administration, seller: Seller): Promise<CommandResult> => {
  const others = await sellersOfName(admin, seller.name, seller.seller_id);
  if (others.length === 0) return shown(seller);
  const ids = others.map(({ seller_id }) => seller_id).join(', ');
  return { ...shown(seller), note: `warning: this name is not unique: ${ids}.` };
};

const create = async ({ admin }: Session, name: string) =>
  shownWithName(admin, await createSeller(admin, name));

const rename = async ({ admin }: Session, seller: string, name: string) => {
  const { seller_id } = await sellerNamed(admin, seller);
  return shownWithName(admin, await renameSeller(admin, seller_id, requireName(name)));
};

const list = async ({ admin }: Session, { search }: { search?: string }) => {
  const sellers = await searchSellers(admin, search);
  return { json: { sellers: sellers.map(sellerView) }, text: sellerTable(sellers) };
};

const show = async ({ admin }: Session, text: string) => {
  const seller = await sellerNamed(admin, text);
  const keys = await readKeyViews(admin, await admin.keys.listOf(seller.seller_id));
  const templates = templatesOf(seller);
  const tables = [sellerTable([seller]), keyTable(keys)];
  return {
    json: { ...sellerView(seller), keys, templates },
    text: templates.length === 0 ? tables : [...tables, templateTable(templates)],
  };
};

const suspend = async ({ admin, confirm }: Session, text: string) => {
  const { seller_id, name } = await sellerNamed(admin, text);
  await confirm(`Suspend ${seller_id} (${name})? Every request with its keys will be refused.`);
  return shown(await setSellerStatus(admin, seller_id, 'suspended'));
};

const resume = async ({ admin }: Session, text: string) =>
  shown(await setSellerStatus(admin, (await sellerNamed(admin, text)).seller_id, 'active'));

/** `sellers create|list|show|rename|messages|suspend|resume` */
export const addSellerCommands: AddCommands = ({ group }) => {
  const add = group('sellers', 'manage sellers');
  add('create <name>', 'create a seller', create, 'sellers create "Kaveh Books"');
  add('list', 'list all sellers, oldest first', list, 'sellers list --search books').option(
    '--search <text>',
    'only those whose name or id contains this',
  );
  const named = ['sellers show sel_…', 'sellers show "Kaveh Books"'];
  add('show <seller>', 'show a seller and its keys', show, ...named);
  add('rename <seller> <name>', 'give a seller another name', rename, 'sellers rename sel_… "Kaveh"');
  const chosen = ['sellers messages sel_…', 'sellers messages sel_… --template sms-ir=200002 --locale en'];
  const command = add(
    'messages <seller>',
    "show or choose the templates of a seller's messages",
    messages,
    ...chosen,
  );
  for (const option of templateOptions()) command.addOption(option);
  add('suspend <seller>', 'refuse all keys of a seller, at once', suspend, 'sellers suspend sel_… --yes');
  add('resume <seller>', 'accept the keys of a suspended seller again', resume, 'sellers resume sel_…');
};
