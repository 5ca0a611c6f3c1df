import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { batchGet, itemOf, UnprocessedKeysError } from '#shared/table/batch-get.ts';
import { type EmbeddedTable, startEmbeddedTable } from '#test/table/embedded-table.ts';

let table: EmbeddedTable;
const keys = ['a', 'b', 'c'].map((name) => ({ pk: name, sk: name }));

beforeAll(async () => {
  table = await startEmbeddedTable();
  for (const key of keys.slice(0, 2)) {
    await table.client.send(new PutCommand({ TableName: table.name, Item: { ...key, value: key.pk } }));
  }
});
afterAll(() => table.stop());

/** A client that leaves all but the first key of a batch unread, as a throttled table does. */
const throttled = (batches: number) => {
  let left = batches;
  const asked: number[] = [];
  const send = async (command: { input: { RequestItems: Record<string, { Keys: object[] }> } }) => {
    const open = command.input.RequestItems[table.name]?.Keys ?? [];
    asked.push(open.length);
    left -= 1;
    if (left < 0) return { Responses: { [table.name]: open }, UnprocessedKeys: {} };
    const [first, ...unread] = open;
    return { Responses: { [table.name]: [first] }, UnprocessedKeys: { [table.name]: { Keys: unread } } };
  };
  return { asked, table: { name: table.name, client: { send } as never } };
};

describe('batchGet', () => {
  it('returns the items that exist and leaves out the others', async () => {
    const items = await batchGet(table, keys);
    expect(keys.map((key) => itemOf(items, key)?.value)).toEqual(['a', 'b', undefined]);
  });

  it('makes no call for no keys', async () => {
    expect(await batchGet({ name: 'none', client: undefined as never }, [])).toEqual([]);
  });

  it('reads keys that a throttled table left unread again', async () => {
    const { table: busy, asked } = throttled(2);
    expect(await batchGet(busy, keys)).toHaveLength(3);
    expect(asked).toEqual([3, 2, 1]);
  });

  it('throws instead of taking keys that stay unread for absent', async () => {
    const client = {
      send: async () => ({ UnprocessedKeys: { [table.name]: { Keys: keys } } }),
    } as never;
    await expect(batchGet({ name: table.name, client }, keys)).rejects.toBeInstanceOf(UnprocessedKeysError);
  });
});
