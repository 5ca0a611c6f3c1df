import { findByExternalId, findById, findByPhone, type UserOfSeller } from '#admin/operations/find-users.ts';
import { containing, sellerNamed } from '#admin/operations/lookup.ts';
import { removeUser } from '#admin/operations/remove-user.ts';
import { refusal } from '#admin/refusal.ts';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '#shared/users/page-schema.ts';
import { userReads } from '#shared/users/read-users.ts';
import type { User } from '#shared/users/schema.ts';
import { parsePhone } from '#shared/values/phone.ts';
import { type AddCommands, PHONE_HELP, type Session } from '../command.ts';
import { UsageError } from '../errors.ts';
import { wholeNumberUpTo } from '../option-parsers.ts';
import { phoneHashesOf } from '../phone-argument.ts';
import type { Table } from '../render.ts';
import { plural } from '../views.ts';

interface OfSeller {
  readonly seller: string;
}

interface ListOptions {
  readonly page: number;
  readonly pageSize: number;
  readonly phone?: string;
  readonly all?: boolean;
  readonly search?: string;
}

const FIELDS = ['id', 'display_name', 'phone', 'national_id', 'birth_date', 'created_at'];

const userTable = (rows: readonly User[]): Table => ({ items: 'users', rows, fields: FIELDS, optional: 1 });

/** Reads all users of a seller, page by page, and keeps those whose name or id contains the text. */
const listAll = async (session: Session, seller: string, search?: string) => {
  const { seller_id: sellerId } = await sellerNamed(session.admin, seller);
  const users = userReads(session.admin.table);
  const isWanted = containing(search);
  const data: User[] = [];
  for (let page = 1, last = 1; page <= last; page += 1) {
    const found = await users.listPage(sellerId, page, MAX_PAGE_SIZE);
    last = found.totalPages;
    data.push(...found.users.filter(({ id, display_name }) => isWanted(display_name, id)));
  }
  return {
    json: { data, total: data.length },
    text: userTable(data),
    note: data.length === 0 ? undefined : `${plural(data.length, 'user')}.`,
  };
};

const list = async (session: Session, seller: string, options: ListOptions) => {
  const { page, pageSize, phone, all = false, search } = options;
  if (all || search !== undefined) {
    if (phone !== undefined) throw new UsageError('--phone excludes --all and --search.');
    return listAll(session, seller, search);
  }
  const { admin } = session;
  const { seller_id: sellerId } = await sellerNamed(admin, seller);
  const users = userReads(admin.table);
  const found =
    phone === undefined
      ? await users.listPage(sellerId, page, pageSize)
      : await users.findByPhone(sellerId, await phoneHashesOf(session, phone), { page, pageSize });
  const { users: data, total, totalPages } = found;
  return {
    json: { data, page, page_size: pageSize, total, total_pages: totalPages },
    text: userTable(data),
    note: total === 0 ? undefined : `Page ${page} of ${totalPages}, ${plural(total, 'user')}.`,
  };
};

const requireUser = async ({ admin }: Session, seller: string, userId: string) => {
  const { seller_id: sellerId } = await sellerNamed(admin, seller);
  const user = await userReads(admin.table).getUser(sellerId, userId);
  if (user === undefined) throw refusal('user_not_found', `${sellerId} has no user ${userId}.`);
  return { sellerId, user };
};

/** Returns the users that an id, a phone or an external id names. An external id is never like a phone. */
const find = async (
  session: Session,
  sellerIds: readonly string[],
  text: string,
): Promise<UserOfSeller[]> => {
  const { admin } = session;
  if (text === '-' || parsePhone(text) !== undefined) {
    return findByPhone(admin, sellerIds, await phoneHashesOf(session, text));
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
    throw refusal('user_not_found', 'No user has this id, phone or external id.');
  }
  return {
    json: { data },
    text: data.map((item) => ({ item, fields: ['seller_id', ...FIELDS, 'external_id'] })),
  };
};

const remove = async (session: Session, userId: string, { seller }: OfSeller) => {
  const { sellerId, user } = await requireUser(session, seller, userId);
  const { id } = user;
  await session.confirm(`Remove ${id} from ${sellerId} for good? The seller has to link the person again.`);
  await removeUser(session.admin, { sellerId, userId: id, reason: 'operator' });
  return { json: { id, removed: true }, text: `Removed ${id}.\n` };
};

/** `users list|show|remove` */
export const addUserCommands: AddCommands = ({ group }) => {
  const add = group('users', 'manage the users of a seller: its linked buyers');
  add('list <seller>', 'list the users of a seller, oldest first', list, 'users list sel_… --phone -')
    .option('--phone <phone>', `only the users with this phone: ${PHONE_HELP}`)
    .option('--all', 'all users, page by page')
    .option('--search <text>', 'only those whose name or id contains this; reads all users')
    .option('--page <number>', 'the page', wholeNumberUpTo(Number.MAX_SAFE_INTEGER), 1)
    .option('--page-size <count>', 'users per page', wholeNumberUpTo(MAX_PAGE_SIZE), DEFAULT_PAGE_SIZE);
  add(
    'show <user>',
    'show the users with an id, a phone or an external id',
    show,
    'users show usr_…',
    'users show -',
  ).option('--seller <seller>', 'only of this seller: sel_…, or its name (default: of all sellers)');
  add(
    'remove <user-id>',
    'remove a user and all data about it',
    remove,
    'users remove usr_… --seller sel_…',
  ).requiredOption('--seller <seller>', 'sel_…, or its name');
};
