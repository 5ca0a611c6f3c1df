/** Reads and writes of many items, which take longer than a request may. */
import { setTimeout as pause } from 'node:timers/promises';
import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import type { Table } from '#shared/table/client.ts';
import type { ItemKey } from '#shared/table/keys.ts';
import { batchGet, chunksOf } from '#shared/table/reads.ts';
import { type Backoff, fullJitterMs } from '#shared/table/retry-conflicts.ts';
import type { StoredItem } from '#shared/table/writes.ts';

/** The most items that one BatchWriteItem takes. */
const WRITES_AT_ONCE = 25;

/** Batches that are written at the same time. With all at once the last would wait too long for a connection. */
const AT_ONCE = 8;

/** An admin can wait longer for a throttled table than a request: about 30 seconds for a read. */
const READ_ATTEMPTS = 150;
const THROTTLED: Backoff = [100, 200, 400, 800, 1600, 3200, 6400, 10_000];

/** Awaits `work` for each item, for `atOnce` of them at the same time. Returns the results in the order of the items. */
export const inTurns = async <Item, Result>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> => {
  const results: Result[] = [];
  for (const some of chunksOf(items, atOnce)) results.push(...(await Promise.all(some.map(work))));
  return results;
};

/** Reads any number of distinct keys, strongly consistent. Returns the items that exist, in no order. */
export const batchGetAll = (
  table: Table,
  keys: readonly ItemKey[],
  attributes?: string,
): Promise<StoredItem[]> => batchGet(table, keys, { attributes, attempts: READ_ATTEMPTS });

type WriteRequest = NonNullable<
  ConstructorParameters<typeof BatchWriteCommand>[0]['RequestItems']
>[string][number];

/** Writes any number of items. Those that a throttled table leaves unprocessed are sent again until all are written. */
const writeAll = async ({ client, name }: Table, requests: WriteRequest[]): Promise<void> => {
  const writeChunk = async (chunk: WriteRequest[]): Promise<void> => {
    let open = chunk;
    for (let attempt = 0; open.length > 0; attempt += 1) {
      if (attempt > 0) await pause(fullJitterMs(THROTTLED, attempt));
      const { UnprocessedItems } = await client.send(
        new BatchWriteCommand({ RequestItems: { [name]: open } }),
      );
      open = UnprocessedItems?.[name] ?? [];
    }
  };
  await inTurns(chunksOf(requests, WRITES_AT_ONCE), AT_ONCE, writeChunk);
};

/** Puts any number of items, each once, without conditions and in no order. */
export const putAll = (table: Table, items: readonly StoredItem[]): Promise<void> =>
  writeAll(
    table,
    items.map((Item) => ({ PutRequest: { Item } })),
  );

/** Deletes any number of items, each once, without conditions and in no order. */
export const deleteAll = (table: Table, items: readonly (StoredItem | ItemKey)[]): Promise<void> =>
  writeAll(
    table,
    items.map(({ pk, sk }) => ({ DeleteRequest: { Key: { pk, sk } } })),
  );
