import { type BatchGetCommand, BatchWriteCommand, type DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { batchGetAll, putAll } from '#admin/stores/batches.ts';
import type { Table } from '#shared/table/client.ts';
import { chunksOf } from '#shared/table/reads.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import { useTable } from '#test/table/use-table.ts';

const table = useTable();
const keys = Array.from({ length: 250 }, (_, index) => ({ pk: `ITEM#${index}`, sk: 'ITEM' }));
beforeAll(async () => {
  for (const chunk of chunksOf(keys.slice(0, 220), 25)) {
    const requests = chunk.map((key) => ({ PutRequest: { Item: { ...key, size: 1 } } }));
    await table.client.send(new BatchWriteCommand({ RequestItems: { [table.name]: requests } }));
  }
});

/** More calls than the shared batchGet makes before it throws. */
const THROTTLED_CALLS = 7;

/** A table that leaves all keys of the first calls unprocessed, as a throttled one does. */
const throttled = (): Table => {
  let calls = 0;
  const client = {
    async send(command: BatchGetCommand) {
      calls += 1;
      if (calls > THROTTLED_CALLS) return table.client.send(command);
      return { Responses: {}, UnprocessedKeys: command.input.RequestItems };
    },
  };
  return { name: table.name, client: client as unknown as DynamoDBDocumentClient };
};

const found = async (from: Table) => (await batchGetAll(from, keys)).map(({ pk }) => String(pk)).sort();

describe('batchGetAll', () => {
  it('reads 250 keys and returns the items that exist', async () => {
    expect(await found(table)).toEqual(
      keys
        .slice(0, 220)
        .map(({ pk }) => pk)
        .sort(),
    );
    expect(await batchGetAll(table, [])).toEqual([]);
  });

  it('waits for a throttled table longer than a request does', async () => {
    expect(await batchGetAll(throttled(), keys.slice(0, 3))).toHaveLength(3);
  });

  it('reads only the attributes that were asked for', async () => {
    expect(await batchGetAll(table, keys.slice(0, 1), 'pk')).toEqual([{ pk: 'ITEM#0' }]);
  });
});

describe('putAll', () => {
  it('puts every item, by a few calls at a time, so that none waits too long for a connection', async () => {
    let [open, most] = [0, 0];
    const watched = interceptedTable(table, async (_command, send) => {
      open += 1;
      most = Math.max(most, open);
      const result = await send();
      open -= 1;
      return result;
    });
    const items = Array.from({ length: 500 }, (_, index) => ({ pk: `PUT#${index}`, sk: 'ITEM' }));
    await putAll(watched, items);
    expect(await batchGetAll(table, items)).toHaveLength(500);
    expect(most).toBeLessThan(10);
  });
});
