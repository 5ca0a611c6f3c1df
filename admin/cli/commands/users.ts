import { AdminError } from '#admin/admin-error.ts';
import { requireSeller } from '#admin/administration.ts';
import { containing, sellerNamed } from '#admin/operations/lookup.ts';
import {
  findByExternalId,
  findById,
  findByPhone,
  removeAllUsers,
  removeUser,
  type UserOfSeller,
} from '#admin/operations/users.ts';
import { type Seller, usersOf } from '#admin/stores/seller-store.ts';
import { MAX_PAGE_SIZE } from '#shared/users/page-schema.ts';
import { userReads } from '#shared/users/read-users.ts';
import type { User } from '#shared/users/schema.ts';
import { parsePhone } from '#shared/values/phone.ts';
import { type AddCommands, type CommandResult, PHONE_HELP, plural, type Session } from '../command.ts';
import { UsageError } from '../errors.ts';
import { wholeNumberUpTo } from '../option-parsers.ts';
import { phoneHashOf } from '../phone-argument.ts';
import { withProgress } from '../progress.ts';

interface OfSeller {
  readonly seller: string;
}

interface ListOptions {
  readonly limit: number;
  readonly phone?: string;
  readonly search?: string;
}

const MAX_USERS = 1_000_000;

const FIELDS = ['id', 'display_name', 'phone', 'national_id', 'birth_date', 'created_at'];

/** Reads the users of a seller, or those with a phone, page by page until enough of them have a name or id that contains the text. */
const list = async (session: Session, seller: string, { limit, phone, search }: ListOptions) => {
  const { seller_id: sellerId } = await sellerNamed(session.admin, seller);
  const users = userReads(session.admin.table);
  const phoneHash = phone === undefined ? undefined : await phoneHashOf(session, phone);
  const isWanted = containing(search);
  const found: User[] = [];
  let [page, last, total] = [1, 1, 0];
  for (; page <= last && found.length < limit; page += 1) {
    const read =
      phoneHash === undefined
        ? await users.listPage(sellerId, page, MAX_PAGE_SIZE)
        : await users.findByPhone(sellerId, phoneHash, { page, pageSize: MAX_PAGE_SIZE });
    [last, total] = [read.totalPages, read.total];
    found.push(...read.users.filter(({ id, display_name }) => isWanted(display_name, id)));
  }
  const data = found.slice(0, limit);
  return {
    json: { data, total },
    text: {
      items: 'users',
      rows: data,
      fields: FIELDS,
      terminalFields: ['id', 'phone', 'national_id', 'display_name'],
    },
    note: total === 0 ? '' : `${data.length.toLocaleString('en')} of ${plural(total, 'user')}.`,
  };
};

/** Returns the users that an id, a phone or an external id names. An external id is never like a phone. */
const find = async (
  session: Session,
  sellerIds: readonly string[],
  text: string,
): Promise<UserOfSeller[]> => {
  const { admin } = session;
  if (text === '-' || parsePhone(text) !== undefined) {
    return findByPhone(admin, sellerIds, await phoneHashOf(session, text));
  }
  const [user] = await findById(admin, sellerIds, text);
  return user === undefined ? findByExternalId(admin, sellerIds, text) : [user];
};

const show = async (session: Session, text: string, { seller }: Partial<OfSeller>) => {
  const { admin } = session;
  const sellers = seller === undefined ? await admin.sellers.list() : [await sellerNamed(admin, seller)];
  const data = await find(
    session,
    sellers.map(({ seller_id }) => seller_id),
    text,
  );
  if (data.length === 0) {
    throw new AdminError('user_not_found', 'No user has this id, phone or external id.');
  }
  return {
    json: { data },
    text: { rows: data, fields: ['seller_id', ...FIELDS, 'checked_at', 'external_id'] },
  };
};

const removeOne = async ({ admin, requireYes }: Session, sellerId: string, userId: string) => {
  const user = await userReads(admin.table).getUser(sellerId, userId);
  if (user === undefined) throw new AdminError('user_not_found', `${sellerId} has no user ${userId}.`);
  const { id } = user;
  await requireYes(`Remove ${id} from ${sellerId} for good? The seller has to link the person again.`);
  await removeUser(admin, { sellerId, userId: id, reason: 'operator' });
  return { json: { id, removed: true }, text: `Removed ${id}.\n` };
};

const removeAll = async (session: Session, seller: Seller): Promise<CommandResult> => {
  const { admin, requireYes, terminal } = session;
  const { seller_id, name, status } = seller;
  const total = usersOf(seller);
  const ofSeller = `${plural(total, 'user')} of ${seller_id} (${name})`;
  const isOpen = status === 'active' ? ' It can link more meanwhile: suspend it first.' : '';
  if (total > 0) await requireYes(`Remove all ${ofSeller} for good?${isOpen}`);
  const { removed, isStopped } = await withProgress(terminal, 'users', ({ signal, onProgress }) =>
    removeAllUsers(admin, seller_id, { signal, onProgress: (done) => onProgress(done, total) }),
  );
  const left = usersOf(await requireSeller(admin, seller_id));
  if (isStopped) {
    throw new AdminError(
      'interrupted',
      `Removed ${plural(removed, 'user')}; ${seller_id} has ${plural(left, 'user')}. Run the command again.`,
    );
  }
  return {
    json: { seller_id, removed, users: left },
    text: `Removed ${plural(removed, 'user')} of ${seller_id}.\n`,
    warning:
      left > 0 ? `it has ${plural(left, 'user')}, linked meanwhile. Run the command again.` : undefined,
  };
};

const remove = async (
  session: Session,
  userId: string | undefined,
  { seller: text, all = false }: OfSeller & { readonly all?: boolean },
): Promise<CommandResult> => {
  if ((userId === undefined) !== all) throw new UsageError('Name a user, or --all without one.');
  const seller = await sellerNamed(session.admin, text);
  return userId === undefined ? removeAll(session, seller) : removeOne(session, seller.seller_id, userId);
};

/** `users list|show|remove` */
export const addUserCommands: AddCommands = ({ group }) => {
  const add = group('users', 'manage the users of a seller: its linked buyers');
  add('list <seller>', 'list the users of a seller, oldest first', list, 'users list sel_… --phone -')
    .option('--phone <phone>', `only the users with this phone: ${PHONE_HELP}`)
    .option('--search <text>', 'only those whose name or id contains this')
    .option('--limit <count>', 'the maximum number of users', wholeNumberUpTo(MAX_USERS), 100);
  const showHelp = 'show the users with an id, a phone or an external id';
  const ofSeller = 'only of this seller: sel_…, or its name (default: of all sellers)';
  add('show <user>', showHelp, show, 'users show -').option('--seller <seller>', ofSeller);
  const removeExamples = ['users remove usr_… --seller sel_…', 'users remove --all --seller sel_…'];
  add(
    'remove [user-id]',
    'remove a user, or all of a seller, and all data about them',
    remove,
    ...removeExamples,
  )
    .requiredOption('--seller <seller>', 'sel_…, or its name')
    .option('--all', 'all users of the seller; after an interruption, run it again');
};
