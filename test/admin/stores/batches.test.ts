import { mock } from 'node:test';
import { type BatchGetCommand, BatchWriteCommand, type DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { batchGetAll, putAll } from '#admin/stores/batches.ts';
import type { Table } from '#shared/table/client.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import { useTable } from '#test/table/use-table.ts';

const table = useTable();

// Full jitter of 0: no wait takes time.
beforeEach(() => mock.method(Math, 'random', () => 0));
afterEach(() => mock.restoreAll());

const itemsNamed = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => ({ pk: `${name}#${index}`, sk: 'ITEM' }));

/** More calls than the shared batchGet makes before it throws. */
const THROTTLED_CALLS = 7;

/** A table whose client sends commands in this way. */
const sending = (send: (command: never) => unknown): Table => ({
  name: table.name,
  client: { send } as unknown as DynamoDBDocumentClient,
});

it('putAll puts every item by a few calls at a time, so that none waits too long for a connection, and batchGetAll reads all that exist', async () => {
  let [open, most] = [0, 0];
  const watched = interceptedTable(table, async (_command, send) => {
    open += 1;
    most = Math.max(most, open);
    const result = await send();
    open -= 1;
    return result;
  });
  const items = itemsNamed('PUT', 300);
  await putAll(watched, items);
  expect(most).toBe(8);
  const found = await batchGetAll(table, [...items, ...itemsNamed('MISSING', 50)]);
  expect(found.map(({ pk }) => pk).sort()).toEqual(items.map(({ pk }) => pk).sort());
});

it('putAll sends what a throttled table leaves unprocessed again until all is written', async () => {
  let calls = 0;
  const slow = sending(async ({ input }: BatchWriteCommand) => {
    calls += 1;
    const requests = input.RequestItems?.[table.name] ?? [];
    const done = requests.slice(0, Math.ceil(requests.length / 2));
    await table.client.send(new BatchWriteCommand({ RequestItems: { [table.name]: done } }));
    const rest = requests.slice(done.length);
    return { UnprocessedItems: rest.length === 0 ? {} : { [table.name]: rest } };
  });
  const items = itemsNamed('SLOW', 25);
  await putAll(slow, items);
  expect(calls).toBe(5);
  expect(await batchGetAll(table, items)).toHaveLength(25);
});

it('batchGetAll waits for a throttled table longer than a request does', async () => {
  let calls = 0;
  const slow = sending(async (command: BatchGetCommand) => {
    calls += 1;
    if (calls > THROTTLED_CALLS) return table.client.send(command);
    return { Responses: {}, UnprocessedKeys: command.input.RequestItems };
  });
  const items = itemsNamed('LATE', 3);
  await putAll(table, items);
  expect(await batchGetAll(slow, items)).toHaveLength(3);
});

it('batchGetAll gives up after 150 calls, about 30 seconds', async () => {
  let calls = 0;
  const throttled = sending(async ({ input }: BatchGetCommand) => {
    calls += 1;
    return { Responses: {}, UnprocessedKeys: input.RequestItems };
  });
  await expect(batchGetAll(throttled, itemsNamed('NEVER', 1))).rejects.toThrow();
  expect(calls).toBe(150);
});

it('batchGetAll reads only the attributes that were asked for', async () => {
  const items = itemsNamed('PART', 1);
  await putAll(table, items);
  expect(await batchGetAll(table, items, 'pk')).toEqual([{ pk: 'PART#0' }]);
});
