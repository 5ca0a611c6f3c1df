import { BatchGetCommand, BatchWriteCommand, type DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { batchGet, chunksOf } from '#admin/stores/batch-get.ts';
import type { Table } from '#shared/table/client.ts';
import { type EmbeddedTable, startEmbeddedTable } from '#test/table/embedded-table.ts';

let table: EmbeddedTable;
const keys = Array.from({ length: 250 }, (_, index) => ({ pk: `ITEM#${index}`, sk: 'ITEM' }));
beforeAll(async () => {
  table = await startEmbeddedTable();
  for (const chunk of chunksOf(keys.slice(0, 220), 25)) {
    const requests = chunk.map((key) => ({ PutRequest: { Item: { ...key, size: 1 } } }));
    await table.client.send(new BatchWriteCommand({ RequestItems: { [table.name]: requests } }));
  }
});
afterAll(() => table.stop());

/** A table that answers for half of what it is asked for, as a throttled one does. */
const throttled = (): Table => {
  const client = {
    async send({ input }: BatchGetCommand) {
      const asked = input.RequestItems?.[table.name]?.Keys ?? [];
      const done = asked.slice(0, Math.ceil(asked.length / 2));
      const rest = asked.slice(done.length);
      const answer = await table.client.send(
        new BatchGetCommand({ RequestItems: { [table.name]: { Keys: done, ConsistentRead: true } } }),
      );
      return { ...answer, UnprocessedKeys: rest.length === 0 ? {} : { [table.name]: { Keys: rest } } };
    },
  };
  return { name: table.name, client: client as unknown as DynamoDBDocumentClient };
};

const found = async (from: Table) => (await batchGet(from, keys)).map(({ pk }) => String(pk)).sort();

it('gets the items of any number of keys, without those that are missing', async () => {
  expect(await found(table)).toEqual(
    keys
      .slice(0, 220)
      .map(({ pk }) => pk)
      .sort(),
  );
  expect(await batchGet(table, [])).toEqual([]);
});

it('asks again for what a throttled table leaves out', async () => {
  expect(await found(throttled())).toEqual(await found(table));
}, 60_000);

it('gets no more of an item than is asked for', async () => {
  expect(await batchGet(table, keys.slice(0, 1), 'pk')).toEqual([{ pk: 'ITEM#0' }]);
});
