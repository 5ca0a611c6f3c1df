/** Reads and writes of many items, which take longer than a request may. */
import { setTimeout as pause } from 'node:timers/promises';
import { BatchWriteCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { type Backoff, fullJitterMs } from '#shared/table/backoff.ts';
import type { Table } from '#shared/table/client.ts';
import type { ItemKey, ItemPrefix } from '#shared/table/keys.ts';
import { batchGet, chunksOf, UnprocessedKeysError } from '#shared/table/reads.ts';
import type { StoredItem } from '#shared/table/writes.ts';

/** The most keys that one BatchGetItem takes, and the most items that one BatchWriteItem takes. */
const KEYS_AT_ONCE = 100;
const WRITES_AT_ONCE = 25;

/** An admin can wait longer for a throttled table than a request: about 30 seconds for a read. */
const THROTTLED: Backoff = { baseMs: 100, capMs: 10_000 };
const MAX_ATTEMPTS = 10;

const getChunk = async (
  table: Table,
  keys: readonly ItemKey[],
  attributes: string | undefined,
): Promise<StoredItem[]> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await batchGet(table, keys, { attributes });
    } catch (error) {
      if (!(error instanceof UnprocessedKeysError) || attempt === MAX_ATTEMPTS) throw error;
      await pause(fullJitterMs(THROTTLED, attempt));
    }
  }
};

/** Reads any number of distinct keys, strongly consistent. Returns the items that exist, in no order. */
export const batchGetAll = async (
  table: Table,
  keys: readonly ItemKey[],
  attributes?: string,
): Promise<StoredItem[]> =>
  (await Promise.all(chunksOf(keys, KEYS_AT_ONCE).map((chunk) => getChunk(table, chunk, attributes)))).flat();

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
  await Promise.all(chunksOf(requests, WRITES_AT_ONCE).map(writeChunk));
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

/** Parts of the table that are read at the same time. */
const SEGMENTS = 8;

/** Reads the whole table and awaits `work` for each page of the items of a kind. Only a restore reads so much. */
export const forEachPage = async (
  { client, name: TableName }: Table,
  prefix: ItemPrefix,
  work: (items: readonly StoredItem[]) => Promise<void>,
): Promise<void> => {
  const readSegment = async (Segment: number): Promise<void> => {
    let start: StoredItem | undefined;
    do {
      const page = await client.send(
        new ScanCommand({
          TableName,
          Segment,
          TotalSegments: SEGMENTS,
          ConsistentRead: true,
          ExclusiveStartKey: start,
          FilterExpression: 'begins_with(pk, :prefix)',
          ExpressionAttributeValues: { ':prefix': prefix },
        }),
      );
      await work(page.Items ?? []);
      start = page.LastEvaluatedKey;
    } while (start !== undefined);
  };
  await Promise.all(Array.from({ length: SEGMENTS }, (_, segment) => readSegment(segment)));
};
