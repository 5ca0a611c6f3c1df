import { handle } from '#functions/get-user.ts';
import { routes } from '#shared/routes.ts';
import type { Table } from '#shared/table/client.ts';
import type { User } from '#shared/users/schema.ts';
import { createSeller } from '#test/shared/users/linking.ts';
import { userStore } from '#test/shared/users/user-store.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import { useTable } from '#test/table/use-table.ts';
import { functionUnderTest } from './harness.ts';
import { linkNewUser } from './users-on.ts';

const table = useTable();
let user: User;

beforeAll(async () => {
  await createSeller(table, 'sel_test');
  user = await linkNewUser(table, 'sel_test');
});

const getUser = (on: Table = table) =>
  functionUnderTest(routes['get-user'], handle, on, {
    users: userStore(on),
  });

describe('200', () => {
  it('returns the user', async () => {
    const { status, json } = await getUser().call({ path: { id: user.id } });
    expect([status, json]).toEqual([200, user]);
  });
});

describe('503', () => {
  it('is service_unavailable, not 404, if the user cannot be read', async () => {
    const failing = interceptedTable(table, ({ name }, send) => {
      if (name !== 'GetCommand') return send();
      return Promise.reject(Object.assign(new Error('no response'), { name: 'TimeoutError' }));
    });
    const { status, json, headers } = await getUser(failing).call({ path: { id: user.id } });
    expect([status, json.code]).toEqual([503, 'service_unavailable']);
    expect(Number(headers['Retry-After'])).toBeGreaterThan(0);
  });
});
