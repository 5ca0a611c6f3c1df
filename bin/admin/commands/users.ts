import { sellerNamed } from '#admin/operations/lookup.ts';
import { refusal } from '#admin/operations/refusal.ts';
import { removeUser } from '#admin/operations/remove-user.ts';
import { userReads } from '#shared/users/read-users.ts';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, type User } from '#shared/users/schema.ts';
import { type AddCommands, addCommand, type CommandResult, PHONE_HELP, type Session } from '../command.ts';
import { wholeNumberUpTo } from '../option-parsers.ts';
import { phoneHashesOf } from '../phone-argument.ts';
import { propertiesOf, type Table, tableOf } from '../table.ts';
import { shortTime } from '../times.ts';
import { plural } from '../views.ts';

interface ListOptions {
  readonly page: number;
  readonly pageSize: number;
  readonly phone?: string;
}

const userTable = (users: readonly User[]): Table =>
  tableOf(
    ['user', 'name', 'phone', 'national id', 'birth date', 'linked (UTC)'],
    users.map((user) => [
      user.id,
      user.display_name,
      user.phone,
      user.national_id,
      user.birth_date,
      shortTime(user.created_at),
    ]),
    1,
  );

const list = async (session: Session, options: ListOptions, seller: string): Promise<CommandResult> => {
  const { admin } = session;
  const { page, pageSize, phone } = options;
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
    note: total === 0 ? 'There are no users.' : `Page ${page} of ${totalPages}, ${plural(total, 'user')}.`,
  };
};

const requireUser = async ({ admin }: Session, seller: string, userId: string) => {
  const { seller_id: sellerId } = await sellerNamed(admin, seller);
  const user = await userReads(admin.table).getUser(sellerId, userId);
  if (user === undefined) throw refusal('user_not_found', `${sellerId} has no user ${userId}.`);
  return { sellerId, user };
};

const show = async (
  session: Session,
  { seller }: { seller: string },
  userId: string,
): Promise<CommandResult> => {
  const { user } = await requireUser(session, seller, userId);
  return {
    json: user,
    text: propertiesOf([
      ['user', user.id],
      ['name', user.display_name],
      ['phone', user.phone],
      ['national id', user.national_id],
      ['birth date', user.birth_date],
      ['linked (UTC)', shortTime(user.created_at)],
    ]),
  };
};

const remove = async (
  session: Session,
  { seller }: { seller: string },
  userId: string,
): Promise<CommandResult> => {
  const { sellerId, user } = await requireUser(session, seller, userId);
  const { id } = user;
  await session.confirm(`Remove ${id} from ${sellerId} for good? The seller has to link the person again.`);
  await removeUser(session.admin, sellerId, id);
  return { json: { id, removed: true }, text: `Removed ${id}.\n` };
};

/** `users list|show|remove` */
export const addUserCommands: AddCommands = (program, act) => {
  const users = program.command('users').description('manage the users of a seller: its linked buyers');
  addCommand(users, 'list <seller>', 'list the users of a seller, oldest first', 'users list sel_… --phone -')
    .option('--phone <phone>', `only the users with this phone: ${PHONE_HELP}`)
    .option('--page <number>', 'the page', wholeNumberUpTo(Number.MAX_SAFE_INTEGER), 1)
    .option('--page-size <count>', 'users per page', wholeNumberUpTo(MAX_PAGE_SIZE), DEFAULT_PAGE_SIZE)
    .action(act(list));
  addCommand(users, 'show <user-id>', 'show a user', 'users show usr_… --seller sel_…')
    .requiredOption('--seller <seller>', 'sel_…, or its name')
    .action(act(show));
  addCommand(
    users,
    'remove <user-id>',
    'remove a user and all data about it',
    'users remove usr_… --seller sel_…',
  )
    .requiredOption('--seller <seller>', 'sel_…, or its name')
    .action(act(remove));
};
