import { handle } from '#functions/delete-user.ts';
import { routes } from '#shared/routes.ts';
import type { Table } from '#shared/table/client.ts';
import { createSeller } from '#test/shared/users/linking.ts';
import { userStore } from '#test/shared/users/user-store.ts';
import { useTable } from '#test/table/use-table.ts';
import { functionUnderTest } from './harness.ts';
import { linkNewUser } from './users-on.ts';

const table = useTable();

beforeAll(async () => {
  await createSeller(table, 'sel_test');
});

const deleteUser = (on: Table = table) =>
  functionUnderTest(routes['delete-user'], handle, on, {
    users: userStore(on),
  });

const newUser = () => linkNewUser(table, 'sel_test');
const isLinked = async (id: string) => (await userStore(table).getUser('sel_test', id)) !== undefined;

describe('204', () => {
  it('removes the user and has no body', async () => {
    const { id } = await newUser();
    const { status, json, headers } = await deleteUser().call({ path: { id } });
    expect([status, json]).toEqual([204, undefined]);
    expect(headers).not.toHaveProperty('Content-Type');
    expect(headers).toMatchObject({ 'Cache-Control': 'no-store', 'X-Request-Id': 'req-1' });
    expect(await isLinked(id)).toBe(false);
  });

  it('is the response to the same request again, which counts nothing', async () => {
    const { id } = await newUser();
    const { call, clock } = deleteUser();
    await call({ path: { id } });
    clock.advance(60);
    expect((await call({ path: { id } })).status).toBe(204);
    const { users, total } = await userStore(table).listPage('sel_test', 1, 100);
    expect(users).toHaveLength(total);
  });
});
