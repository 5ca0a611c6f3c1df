import { removeAllUsers, removeUser } from '#admin/operations/users.ts';
import { userReads } from '#shared/users/read-users.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import { linkBuyer, linkMany } from './linked-buyer.ts';
import { type TestAdministration, useAdministration } from './use-administration.ts';

const newAdministration = useAdministration();
let deployment: TestAdministration;
let sellerId: string;
beforeEach(async () => {
  deployment = await newAdministration();
  ({ seller_id: sellerId } = await deployment.seller());
});

const link = () => linkBuyer(deployment.table, sellerId, 'hash of a phone');

const links = async (count: number): Promise<void> => {
  for (let each = 0; each < count; each += 1) await link();
};

const usersLeft = async () => (await userReads(deployment.table).listPage(sellerId, 1, 100)).users;

/** Removes all users. `atEach`: gets the number of the removed ones after each removal. */
const removeAll = (
  atEach: (removed: number) => unknown = () => {},
  { signal = new AbortController().signal, admin = deployment.admin } = {},
) => removeAllUsers(admin, sellerId, { signal, onProgress: atEach });

it('removes the users of more than one page, and none of another seller, and reports each', async () => {
  // A page has 100 users.
  await linkMany(deployment.table, sellerId, 'hash of a phone', 101);
  const { seller_id: other } = await deployment.seller('Other Shop');
  const kept = await linkBuyer(deployment.table, other, 'hash of a phone');
  const reports: number[] = [];
  expect(await removeAll((removed) => reports.push(removed))).toEqual({ removed: 101, isStopped: false });
  expect(reports).toEqual(Array.from({ length: 101 }, (_, index) => index + 1));
  expect(await deployment.admin.sellers.find(sellerId)).toMatchObject({
    user_count: 101,
    removed_count: 101,
  });
  expect(await userReads(deployment.table).getUser(other, kept.id)).toEqual(kept);
});

it('stops after the user that it removes when it is interrupted, and removes the rest when it is run again', async () => {
  await links(5);
  const controller = new AbortController();
  const stopAt2 = (removed: number) => removed === 2 && controller.abort();
  expect(await removeAll(stopAt2, { signal: controller.signal })).toEqual({ removed: 2, isStopped: true });
  expect(await usersLeft()).toHaveLength(3);
  expect(await removeAll()).toEqual({ removed: 3, isStopped: false });
  expect(await usersLeft()).toEqual([]);
});

it('leaves a user that was linked meanwhile, and does not count one that was removed meanwhile', async () => {
  await links(2);
  const [, second] = await usersLeft();
  let late: Awaited<ReturnType<typeof link>> | undefined;
  const raced = interceptedTable(deployment.table, async ({ name }, send) => {
    if (name !== 'QueryCommand' || late !== undefined) return send();
    late = await link();
    const result = await send();
    await removeUser(deployment.admin, { sellerId, userId: second?.id ?? '', reason: 'operator' });
    return result;
  });
  expect(await removeAll(undefined, { admin: { ...deployment.admin, table: raced } })).toMatchObject({
    removed: 1,
  });
  expect(await usersLeft()).toEqual([late]);
});
