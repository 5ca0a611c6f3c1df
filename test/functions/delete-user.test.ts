import { handle } from '#functions/delete-user.ts';
import { PLANS } from '#shared/rate-limits/plans.ts';
import { routes } from '#shared/routes.ts';
import type { Table } from '#shared/table/client.ts';
import { userIdAt } from '#shared/users/user-id.ts';
import { canceledFor, createSeller, noResponse } from '#test/shared/users/linking.ts';
import { userStore } from '#test/shared/users/user-store.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import { useTable } from '#test/table/use-table.ts';
import { callerContext, functionUnderTest } from './harness.ts';
import { linkNewUser } from './users-on.ts';

const table = useTable();

beforeAll(async () => {
  await createSeller(table, 'sel_test');
  await createSeller(table, 'sel_other');
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

describe('404', () => {
  it("is the same body for an unknown, malformed and another seller's id, and removes nothing", async () => {
    const kept = await newUser();
    const foreign = await linkNewUser(table, 'sel_other');
    const ids = [userIdAt(1, '0'.repeat(15)), userIdAt(999_999, '0'.repeat(15)), 'usr_1', '%00', foreign.id];
    const { call } = deleteUser();
    const replies = await Promise.all(ids.map((id) => call({ path: { id } })));
    expect(replies.map(({ status, json }) => [status, json.code])).toEqual(
      ids.map(() => [404, 'user_not_found']),
    );
    expect(new Set(replies.map(({ json }) => JSON.stringify(json))).size).toBe(1);
    expect(await userStore(table).getUser('sel_other', foreign.id)).toEqual(foreign);
    expect(await isLinked(kept.id)).toBe(true);
  });
});

describe('422', () => {
  it('names a query parameter and removes nothing', async () => {
    const { id } = await newUser();
    const { status, json } = await deleteUser().call({ path: { id }, query: { force: '1' } });
    expect([status, json.code]).toEqual([422, 'validation_failed']);
    expect(await isLinked(id)).toBe(true);
  });
});

describe('429', () => {
  it('removes nothing when the plan has no request left', async () => {
    const { id } = await newUser();
    const { call } = deleteUser();
    const authorizer = { ...callerContext, keyId: 'key_used_up', plan: 'free' };
    const path = { id: userIdAt(999_999, '0'.repeat(15)) };
    const allowed = Array.from({ length: PLANS.free.requestsPerMinute }, () => call({ path, authorizer }));
    await Promise.all(allowed);
    const { status, json } = await call({ path: { id }, authorizer });
    expect([status, json.code]).toEqual([429, 'rate_limit_exceeded']);
    expect(await isLinked(id)).toBe(true);
  });
});

describe('503', () => {
  it.each([
    ['no response comes', noResponse, 15_000],
    ['other writes conflict until the deadline', canceledFor('TransactionConflict'), 600],
  ])(
    'is service_unavailable with Retry-After if %s, and removes nothing',
    async (_case, error, timeLeftMs) => {
      const { id } = await newUser();
      const failing = interceptedTable(table, ({ name }, send) =>
        name === 'TransactWriteCommand' ? Promise.reject(error) : send(),
      );
      const { status, json, headers } = await deleteUser(failing).call({ path: { id }, timeLeftMs });
      expect([status, json.code, headers['Retry-After']]).toEqual([503, 'service_unavailable', '5']);
      expect(await isLinked(id)).toBe(true);
    },
  );
});
