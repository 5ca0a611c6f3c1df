import { setTimeout as pause } from 'node:timers/promises';
import { BatchGetCommand } from '@aws-sdk/lib-dynamodb';
import { type Backoff, fullJitterMs } from '#shared/table/backoff.ts';
import type { Table } from '#shared/table/client.ts';
import type { ItemKey } from '#shared/table/keys.ts';
import type { StoredItem } from '#shared/table/writes.ts';

/** As many keys as one BatchGetItem takes. */
const BATCH_SIZE = 100;
const UNPROCESSED: Backoff = { baseMs: 50, capMs: 10_000 };

/** Waits before what a throttled table left unprocessed is sent again. */
export const backoff = (attempt: number): Promise<void> => pause(fullJitterMs(UNPROCESSED, attempt));

/** Pieces of a list, each of `size` but the last. */
export const chunksOf = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );

const getChunk = async (
  { client, name }: Table,
  chunk: readonly ItemKey[],
  ProjectionExpression: string | undefined,
): Promise<StoredItem[]> => {
  const items: StoredItem[] = [];
  let keys: Record<string, unknown>[] = chunk.map((key) => ({ ...key }));
  for (let attempt = 0; keys.length > 0; attempt += 1) {
    if (attempt > 0) await backoff(attempt);
    const { Responses, UnprocessedKeys } = await client.send(
      new BatchGetCommand({
        RequestItems: { [name]: { Keys: keys, ProjectionExpression, ConsistentRead: true } },
      }),
    );
    items.push(...(Responses?.[name] ?? []));
    keys = UnprocessedKeys?.[name]?.Keys ?? [];
  }
  return items;
};

/**
 * The items of any number of distinct keys, strongly consistent and in no order; those that are missing are left out. What a throttled
 * table leaves unprocessed is asked for again, so it is for an admin's patience and not for a request's.
 */
export const batchGet = async (
  table: Table,
  keys: readonly ItemKey[],
  projection?: string,
): Promise<StoredItem[]> =>
  (await Promise.all(chunksOf(keys, BATCH_SIZE).map((chunk) => getChunk(table, chunk, projection)))).flat();
