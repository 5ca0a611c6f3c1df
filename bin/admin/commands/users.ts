import { requireSeller } from '#admin/administration.ts';
import { refusal } from '#admin/operations/refusal.ts';
import { removeUser } from '#admin/operations/remove-user.ts';
import { userReads } from '#shared/users/read-users.ts';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, type UserView } from '#shared/users/schema.ts';
import { viewOf } from '#shared/users/view.ts';
import type { AddCommands, CommandResult, Session } from '../command.ts';
import { wholeNumberUpTo } from '../option-parsers.ts';
import { PHONE_HELP, phoneHashesOf } from '../phone-argument.ts';
import { propertiesOf, tableOf } from '../table.ts';
import { shortTime } from '../times.ts';

interface ListOptions {
  readonly page: number;
  readonly pageSize: number;
  readonly phone?: string;
}

const userTable = (users: readonly UserView[]): string =>
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
  );

const list = async (session: Session, options: ListOptions, sellerId: string): Promise<CommandResult> => {
  const { admin } = session;
  const { page, pageSize, phone } = options;
  await requireSeller(admin, sellerId);
  const users = userReads(admin.table);
  const found =
    phone === undefined
      ? await users.listPage(sellerId, page, pageSize)
      : await users.findByPhone(sellerId, await phoneHashesOf(session, phone), { page, pageSize });
  const data = found.users.map(viewOf);
  const { total, totalPages } = found;
  return {
    json: { data, page, page_size: pageSize, total, total_pages: totalPages },
    text:
      total === 0
        ? 'There are no users.\n'
        : `${userTable(data)}Page ${page} of ${totalPages}, ${total.toLocaleString('en')} users.\n`,
  };
};

const requireUser = async ({ admin }: Session, sellerId: string, userId: string): Promise<UserView> => {
  await requireSeller(admin, sellerId);
  const user = await userReads(admin.table).getUser(sellerId, userId);
  if (user === undefined) throw refusal('user_not_found', `${sellerId} has no user ${userId}.`);
  return viewOf(user);
};

const show = async (
  session: Session,
  { seller }: { seller: string },
  userId: string,
): Promise<CommandResult> => {
  const user = await requireUser(session, seller, userId);
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
  const { id } = await requireUser(session, seller, userId);
  await session.confirm(`Remove ${id} from ${seller} for good? The seller has to link the person again.`);
  await removeUser(session.admin, seller, id);
  return { json: { id, removed: true }, text: `Removed ${id}.\n` };
};

/** `users list|show|remove` */
export const addUserCommands: AddCommands = (program, act) => {
  const users = program.command('users').description('manage the users of a seller: its linked buyers');
  users
    .command('list')
    .argument('<seller>', 'sel_…')
    .description('list the users of a seller, oldest first')
    .option('--phone <phone>', `only the users with this phone: ${PHONE_HELP}`)
    .option('--page <number>', 'the page', wholeNumberUpTo(Number.MAX_SAFE_INTEGER), 1)
    .option('--page-size <count>', 'users per page', wholeNumberUpTo(MAX_PAGE_SIZE), DEFAULT_PAGE_SIZE)
    .addHelpText('after', '\nExample:\n  $ npm run admin -- users list sel_… --phone 09121234567')
    .action(act(list));
  users
    .command('show')
    .argument('<user-id>', 'usr_…')
    .description('show a user')
    .requiredOption('--seller <seller>', 'sel_…')
    .addHelpText('after', '\nExample:\n  $ npm run admin -- users show usr_… --seller sel_…')
    .action(act(show));
  users
    .command('remove')
    .argument('<user-id>', 'usr_…')
    .description('remove a user and all data about it')
    .requiredOption('--seller <seller>', 'sel_…')
    .addHelpText('after', '\nExample:\n  $ npm run admin -- users remove usr_… --seller sel_…')
    .action(act(remove));
};
