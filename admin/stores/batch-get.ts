import { setTimeout as pause } from 'node:timers/promises';
import { type Backoff, fullJitterMs } from '#shared/table/backoff.ts';
import type { Table } from '#shared/table/client.ts';
import type { ItemKey } from '#shared/table/keys.ts';
import { batchGet, chunksOf, UnprocessedKeysError } from '#shared/table/reads.ts';
import type { StoredItem } from '#shared/table/writes.ts';

/** The most keys that one BatchGetItem takes. */
const BATCH_SIZE = 100;

/** An admin can wait longer for a throttled table than a request: about 30 seconds. */
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
  (await Promise.all(chunksOf(keys, BATCH_SIZE).map((chunk) => getChunk(table, chunk, attributes)))).flat();
