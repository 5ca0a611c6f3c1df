import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { handle, type ListUsersDeps } from '#functions/list-users.ts';
import { routes } from '#shared/routes.ts';
import { sellerKey, userKey } from '#shared/table/keys.ts';
import { userStore } from '#shared/users/store.ts';
import { type EmbeddedTable, startEmbeddedTable } from '#test/table/embedded-table.ts';
import { callerContext, functionUnderTest } from './harness.ts';

let table: EmbeddedTable;

const TOTAL = 45;

beforeAll(async () => {
  table = await startEmbeddedTable();
  const put = (Item: Record<string, unknown>) =>
    table.client.send(new PutCommand({ TableName: table.name, Item }));
  await put({ ...sellerKey('sel_test'), user_count: TOTAL });
  for (let ordinal = 1; ordinal <= TOTAL; ordinal += 1) {
    await put({
      ...userKey('sel_test', ordinal),
      id: `usr_${ordinal}`,
      national_id_last_four: '0829',
      birth_date: '1370/1/15',
      phone: '+989990000000',
      display_name: `Person ${ordinal}`,
      created_at: '2026-11-21T08:00:00.000Z',
    });
  }
});
afterAll(() => table.stop());

const listUsers = () =>
  functionUnderTest<(typeof routes)['list-users'], ListUsersDeps>(routes['list-users'], handle, table, {
    users: userStore(table),
  });

const idsOf = (json: { data: { id: string }[] }) => json.data.map(({ id }) => id);

describe('200', () => {
  it('gives page 1 of 20 unless asked otherwise, oldest first', async () => {
    const { status, json, headers } = await listUsers().call();
    expect(status).toBe(200);
    expect(idsOf(json)).toEqual(Array.from({ length: 20 }, (_, index) => `usr_${index + 1}`));
    expect(json).toMatchObject({ page: 1, page_size: 20, total: TOTAL, total_pages: 3 });
    expect(headers.Link).toBe(
      '<?page=1&page_size=20>; rel="first", <?page=2&page_size=20>; rel="next", <?page=3&page_size=20>; rel="last"',
    );
  });

  it('covers every user once, whatever the page size', async () => {
    const { call } = listUsers();
    const pages = await Promise.all(
      [1, 2, 3, 4, 5, 6, 7].map((page) => call({ query: { page: `${page}`, page_size: '7' } })),
    );
    expect(pages.flatMap(({ json }) => idsOf(json))).toEqual(
      Array.from({ length: TOTAL }, (_, index) => `usr_${index + 1}`),
    );
  });

  it('is empty past the end, and points back to the last page', async () => {
    const { status, json, headers } = await listUsers().call({ query: { page: '99', page_size: '20' } });
    expect([status, json.data, json.total]).toEqual([200, [], TOTAL]);
    expect(headers.Link).toBe(
      '<?page=1&page_size=20>; rel="first", <?page=3&page_size=20>; rel="prev", <?page=3&page_size=20>; rel="last"',
    );
  });

  it('shows a seller without users an empty list without links', async () => {
    const { json, headers } = await listUsers().call({
      authorizer: { ...callerContext, sellerId: 'sel_new' },
    });
    expect(json).toEqual({ data: [], page: 1, page_size: 20, total: 0, total_pages: 0 });
    expect(headers).not.toHaveProperty('Link');
  });
});

describe('422', () => {
  it.each([
    [{ page: '0' }, ['page']],
    [{ page: '-1' }, ['page']],
    [{ page: '1.5' }, ['page']],
    [{ page: '' }, ['page']],
    [{ page: '1e3' }, ['page']],
    [{ page: '99999999999999999999' }, ['page']],
    [{ page_size: '101' }, ['page_size']],
    [{ page: ['1', '2'] }, ['page']],
    [
      { page: 'x', page_size: '0', pagesize: '5', toString: '1' },
      ['page', 'page_size', 'pagesize', 'toString'],
    ],
  ])('names each bad parameter of %j', async (query, parameters) => {
    const { status, json } = await listUsers().call({ query: query as Record<string, string | string[]> });
    expect([status, json.code]).toEqual([422, 'validation_failed']);
    expect(json.errors.map((error: { parameter: string }) => error.parameter)).toEqual(parameters);
  });
});
