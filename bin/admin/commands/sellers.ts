import { requireSeller } from '#admin/administration.ts';
import { createSeller } from '#admin/operations/create-seller.ts';
import { setSellerStatus } from '#admin/operations/set-seller-status.ts';
import type { Seller, SellerStatus } from '#admin/stores/seller-store.ts';
import type { AddCommands, CommandResult, Session } from '../command.ts';
import { keyTable, readKeyViews, sellerTable, sellerView } from '../views.ts';

const shown = (seller: Seller): CommandResult => ({ json: sellerView(seller), text: sellerTable([seller]) });

const create = async ({ admin }: Session, _options: object, name: string): Promise<CommandResult> =>
  shown(await createSeller(admin, name));

const list = async ({ admin }: Session): Promise<CommandResult> => {
  const sellers: Seller[] = [];
  for await (const seller of admin.sellers.list()) sellers.push(seller);
  return { json: { sellers: sellers.map(sellerView) }, text: sellerTable(sellers) };
};

const show = async ({ admin }: Session, _options: object, sellerId: string): Promise<CommandResult> => {
  const seller = await requireSeller(admin, sellerId);
  const keys = await readKeyViews(admin, await admin.keys.listOf(sellerId));
  return { json: { ...sellerView(seller), keys }, text: sellerTable([seller]) + keyTable(keys) };
};

const setStatus = async (
  { admin }: Session,
  sellerId: string,
  status: SellerStatus,
): Promise<CommandResult> => shown(await setSellerStatus(admin, sellerId, status));

const suspend = async (session: Session, _options: object, sellerId: string): Promise<CommandResult> => {
  const { name } = await requireSeller(session.admin, sellerId);
  await session.confirm(`Suspend ${sellerId} (${name})? Every request with its keys will be refused.`);
  return setStatus(session, sellerId, 'suspended');
};

const resume = (session: Session, _options: object, sellerId: string): Promise<CommandResult> =>
  setStatus(session, sellerId, 'active');

/** `sellers create|list|show|suspend|resume` */
export const addSellerCommands: AddCommands = (program, act) => {
  const sellers = program.command('sellers').description('manage sellers');
  sellers
    .command('create')
    .argument('<name>', 'a name for people, 1 to 100 characters')
    .description('create a seller')
    .addHelpText('after', '\nExample:\n  $ npm run admin -- sellers create "Kaveh Books"')
    .action(act(create));
  sellers
    .command('list')
    .description('list all sellers, oldest first')
    .addHelpText('after', '\nExample:\n  $ npm run admin -- sellers list --json')
    .action(act(list));
  sellers
    .command('show')
    .argument('<seller>', 'sel_…')
    .description('show a seller and its keys')
    .addHelpText('after', '\nExample:\n  $ npm run admin -- sellers show sel_…')
    .action(act(show));
  sellers
    .command('suspend')
    .argument('<seller>', 'sel_…')
    .description('refuse all keys of a seller, at once')
    .addHelpText('after', '\nExample:\n  $ npm run admin -- sellers suspend sel_… --yes')
    .action(act(suspend));
  sellers
    .command('resume')
    .argument('<seller>', 'sel_…')
    .description('accept the keys of a suspended seller again')
    .addHelpText('after', '\nExample:\n  $ npm run admin -- sellers resume sel_…')
    .action(act(resume));
};
