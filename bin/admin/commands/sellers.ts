import { requireSeller } from '#admin/administration.ts';
import { createSeller } from '#admin/operations/create-seller.ts';
import { setSellerStatus } from '#admin/operations/set-seller-status.ts';
import type { Seller, SellerStatus } from '#admin/stores/seller-schema.ts';
import type { AddCommands, Answer, Session } from '../command.ts';
import { readKeyViews } from '../read-keys.ts';
import { keyTable, sellerTable, sellerView } from '../views.ts';

const create = async ({ admin }: Session, _options: object, name: string): Promise<Answer> => {
  const seller = await createSeller(admin, name);
  return { json: sellerView(seller), text: sellerTable([seller]) };
};

const list = async ({ admin }: Session): Promise<Answer> => {
  const sellers: Seller[] = [];
  for await (const seller of admin.sellers.list()) sellers.push(seller);
  return { json: { sellers: sellers.map(sellerView) }, text: sellerTable(sellers) };
};

const show = async ({ admin }: Session, _options: object, sellerId: string): Promise<Answer> => {
  const seller = await requireSeller(admin, sellerId);
  const keys = await readKeyViews(admin, await admin.keys.listOf(sellerId));
  return { json: { ...sellerView(seller), keys }, text: sellerTable([seller]) + keyTable(keys) };
};

const setStatus = async ({ admin }: Session, sellerId: string, status: SellerStatus): Promise<Answer> => {
  const seller = await setSellerStatus(admin, sellerId, status);
  return { json: sellerView(seller), text: sellerTable([seller]) };
};

const suspend = async (session: Session, _options: object, sellerId: string): Promise<Answer> => {
  const { name } = await requireSeller(session.admin, sellerId);
  await session.confirm(`Suspend ${sellerId} (${name})? Every request of its keys will be refused.`);
  return setStatus(session, sellerId, 'suspended');
};

const resume = (session: Session, _options: object, sellerId: string): Promise<Answer> =>
  setStatus(session, sellerId, 'active');

/** `sellers create|list|show|suspend|resume` */
export const addSellerCommands: AddCommands = (program, act) => {
  const sellers = program.command('sellers').description('who may have keys');
  sellers
    .command('create')
    .argument('<name>', 'for people; 1 to 100 characters')
    .description('make a seller')
    .addHelpText('after', '\nExample:\n  $ npm run admin -- sellers create "Kaveh Books"')
    .action(act(create));
  sellers
    .command('list')
    .description('all sellers, oldest first')
    .addHelpText('after', '\nExample:\n  $ npm run admin -- sellers list --json')
    .action(act(list));
  sellers
    .command('show')
    .argument('<seller>', 'its id, sel_…')
    .description('a seller and its keys')
    .addHelpText('after', '\nExample:\n  $ npm run admin -- sellers show sel_…')
    .action(act(show));
  sellers
    .command('suspend')
    .argument('<seller>', 'its id, sel_…')
    .description('refuse all keys of a seller, at once')
    .addHelpText('after', '\nExample:\n  $ npm run admin -- sellers suspend sel_… --yes')
    .action(act(suspend));
  sellers
    .command('resume')
    .argument('<seller>', 'its id, sel_…')
    .description('let a suspended seller in again')
    .addHelpText('after', '\nExample:\n  $ npm run admin -- sellers resume sel_…')
    .action(act(resume));
};
