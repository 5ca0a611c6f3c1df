import { handle } from '#functions/list-users.ts';
import { routes } from '#shared/routes.ts';
import type { Table } from '#shared/table/client.ts';
import type { User } from '#shared/users/schema.ts';
import { checkedAt, createSeller, linked, linkOf, withExternalId } from '#test/shared/users/linking.ts';
import { userStore } from '#test/shared/users/user-store.ts';
import { countedTable } from '#test/table/counted-table.ts';
import { useTable } from '#test/table/use-table.ts';
import { callerContext, functionUnderTest } from './harness.ts';
import { hashes, linkNewUser, olderHashes } from './users-on.ts';

const table = useTable();
let users: User[];

const TOTAL = 25;
const SHARED_PHONE = '+989999000099';

beforeAll(async () => {
  await createSeller(table, 'sel_test');
  await createSeller(table, 'sel_phones');
  users = [];
  for (let count = 0; count < TOTAL; count += 1) users.push(await linkNewUser(table, 'sel_test'));
});

const listUsers = (on: Table = table) =>
  functionUnderTest(routes['list-users'], handle, on, {
    users: userStore(on),
    hashes,
  });

const otherSeller = (sellerId: string) => ({ ...callerContext, sellerId });

const idsOf = (list: readonly { readonly id: string }[]) => list.map(({ id }) => id);

describe('200', () => {
  it('returns page 1 with 20 users by default, oldest link first', async () => {
    const { status, json, headers } = await listUsers().call();
    expect(status).toBe(200);
    expect(json).toEqual({
      data: users.slice(0, 20),
      page: 1,
      page_size: 20,
      total: TOTAL,
      total_pages: 2,
      next_after: users[19]?.id,
    });
    expect(headers.Link).toBe(
      '<?page=1&page_size=20>; rel="first", <?page=2&page_size=20>; rel="next", <?page=2&page_size=20>; rel="last"',
    );
  });

  it('returns the users after one, in one round trip with their number, and where to go on', async () => {
    const counted = countedTable(table);
    const { status, json, headers } = await listUsers(counted.table).call({
      query: { after: users[6]?.id ?? '', page_size: '7' },
    });
    expect({ status, json }).toEqual({
      status: 200,
      json: { data: users.slice(7, 14), page_size: 7, total: TOTAL, next_after: users[13]?.id },
    });
    expect(headers.Link).toBeUndefined();
    expect(counted.rounds).toEqual([['BatchGet', 'Query', 'Update']]);
  });

  it('reads everything once by next_after', async () => {
    const { call } = listUsers();
    const query = { page_size: '6' };
    const { json: first } = await call({ query });
    const seen = idsOf(first.data);
    let after: string | null = first.next_after;
    while (after !== null) {
      const { json } = await call({ query: { ...query, after } });
      seen.push(...idsOf(json.data));
      after = json.next_after;
    }
    expect(seen).toEqual(idsOf(users));
  });

  it('ends with null when the last page is full', async () => {
    const { json } = await listUsers().call({ query: { after: users[19]?.id ?? '', page_size: '5' } });
    expect([idsOf(json.data), json.next_after]).toEqual([idsOf(users.slice(20)), null]);
  });

  it.each([
    ['a place before the first user', `usr_${'0'.repeat(22)}`, TOTAL],
    ['another id of the same place', `usr_0000005${'x'.repeat(15)}`, TOTAL - 5],
    ['a place after the last user', `usr_0000zzz${'x'.repeat(15)}`, 0],
    ['a place after the last possible user', `usr_${'z'.repeat(22)}`, 0],
  ])('accepts the well-formed id of %s, since only its place counts', async (_name, after, count) => {
    const { status, json } = await listUsers().call({ query: { after, page_size: '100' } });
    expect([status, json.data.length, json.next_after]).toEqual([200, count, null]);
  });

  it('is empty past the end', async () => {
    const { status, json } = await listUsers().call({ query: { page: '99' } });
    expect([status, json.data, json.total, json.next_after]).toEqual([200, [], TOTAL, null]);
  });

  it('returns an empty list without links to a seller without users', async () => {
    const { json, headers } = await listUsers().call({ authorizer: otherSeller('sel_new') });
    expect(json).toEqual({ data: [], page: 1, page_size: 20, total: 0, total_pages: 0, next_after: null });
    expect(headers).not.toHaveProperty('Link');
  });
});

describe('200 with phone', () => {
  const authorizer = otherSeller('sel_phones');
  let own: User[];

  beforeAll(async () => {
    own = [
      await linkNewUser(table, 'sel_phones', { phone: SHARED_PHONE, by: olderHashes }),
      await linkNewUser(table, 'sel_phones'),
      await linkNewUser(table, 'sel_phones', { phone: SHARED_PHONE }),
      await linkNewUser(table, 'sel_phones', { phone: SHARED_PHONE }),
    ];
    own[2] = await checkedAt(table, 'sel_phones', own[2] as User, '2026-11-21T07:10:00.001Z');
  });

  it("returns the seller's users with the phone, under every hash secret in use: last checked first, then the later link", async () => {
    const { status, json } = await listUsers().call({ query: { phone: '0999 900 0099' }, authorizer });
    expect(status).toBe(200);
    expect(json).toEqual({
      data: [own[2], own[3], own[0]],
      page: 1,
      page_size: 20,
      total: 3,
      total_pages: 1,
      next_after: null,
    });
  });

  it('counts only the users with the phone, and keeps the phone in the Link header', async () => {
    const query = { phone: SHARED_PHONE, page: '2', page_size: '2' };
    const { json, headers } = await listUsers().call({ query, authorizer });
    expect([idsOf(json.data), json.total, json.total_pages]).toEqual([[own[0]?.id], 3, 2]);
    expect(
      (await listUsers().call({ query: { ...query, page: '1' }, authorizer })).json.next_after,
    ).toBeNull();
    const link = (page: number, rel: string) =>
      `<?phone=%2B989999000099&page=${page}&page_size=2>; rel="${rel}"`;
    expect(headers.Link).toBe([link(1, 'first'), link(1, 'prev'), link(2, 'last')].join(', '));
  });

  it('makes one query per hash beside the rate limit, then reads the users', async () => {
    const counted = countedTable(table);
    await listUsers(counted.table).call({ query: { phone: SHARED_PHONE }, authorizer });
    expect(counted.rounds).toEqual([['Query', 'Query', 'Query', 'Update'], ['BatchGet']]);
  });
});

describe('200 with external_id', () => {
  const authorizer = otherSeller('sel_external');
  let user: User;

  beforeAll(async () => {
    await createSeller(table, 'sel_external');
    user = await linked(userStore(table), withExternalId(linkOf('sel_external', 'sara'), 'order:7'));
    await linkNewUser(table, 'sel_external');
  });

  it('returns the user that has it, and keeps it in the Link header', async () => {
    const { status, json, headers } = await listUsers().call({
      query: { external_id: 'order:7' },
      authorizer,
    });
    expect(status).toBe(200);
    expect(json).toEqual({
      data: [user],
      page: 1,
      page_size: 20,
      total: 1,
      total_pages: 1,
      next_after: null,
    });
    const link = (rel: string) => `<?external_id=order%3A7&page=1&page_size=20>; rel="${rel}"`;
    expect(headers.Link).toBe([link('first'), link('last')].join(', '));
  });

  it('is empty for an external id that no user of the seller has, and past the first page', async () => {
    const { call } = listUsers();
    const unknown = await call({ query: { external_id: 'order:8' }, authorizer });
    const later = await call({ query: { external_id: 'order:7', page: '2' }, authorizer });
    expect([unknown, later].map(({ json }) => [json.data, json.total])).toEqual([
      [[], 0],
      [[], 1],
    ]);
  });
});

describe('422', () => {
  it.each([
    [{ page: ['1', '2'] }, ['page']],
    [{ external_id: '09121234567' }, ['external_id']],
    [{ external_id: 'tel:09121234567' }, ['external_id']],
    [{ phone: SHARED_PHONE, external_id: 'order:7' }, ['external_id']],
    [{ after: 'usr_1' }, ['after']],
    [{ after: `usr_${'0'.repeat(22)}`, page: '1' }, ['after']],
    [{ after: `usr_${'0'.repeat(22)}`, phone: SHARED_PHONE }, ['after']],
    [{ after: `usr_${'0'.repeat(22)}`, external_id: 'order:7' }, ['after']],
    [
      { page: 'x', page_size: '0', phone: 'x', pagesize: '5', toString: '1' },
      ['phone', 'page', 'page_size', 'pagesize', 'toString'],
    ],
  ])('names each wrong parameter of %j', async (query, parameters) => {
    const { status, json } = await listUsers().call({ query: query as Record<string, string | string[]> });
    expect([status, json.code]).toEqual([422, 'validation_failed']);
    expect(json.errors.map((error: { parameter: string }) => error.parameter)).toEqual(parameters);
  });
});
