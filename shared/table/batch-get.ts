import { setTimeout as pause } from 'node:timers/promises';
import { BatchGetCommand } from '@aws-sdk/lib-dynamodb';
import { fullJitterMs } from './backoff.ts';
import type { Table } from './client.ts';
import type { ItemKey } from './keys.ts';
import type { StoredItem } from './writes.ts';

const MAX_ATTEMPTS = 5;
const BACKOFF = { baseMs: 20, capMs: 400 };

/** DynamoDB left keys of a batch unread, because the table or a partition is throttled. */
export class UnprocessedKeysError extends Error {
  constructor() {
    super('the table is throttled: it left keys of a batch unread');
    this.name = 'UnprocessedKeysError';
  }
}

/** Which attributes to read, and when to stop; by default all attributes, and the deadline of the request. */
interface BatchGetOptions {
  readonly projection?: string | undefined;
  readonly abortSignal?: AbortSignal | undefined;
}

/**
 * Reads up to 100 distinct keys in one call, strongly consistent. Returns the items that exist, in no order. A throttled table
 * leaves keys unread without an error: they are read again with jitter, and count as an error if that does not help, never as absent.
 */
export const batchGet = async (
  { client, name }: Table,
  keys: readonly ItemKey[],
  { projection, abortSignal }: BatchGetOptions = {},
): Promise<StoredItem[]> => {
  const items: StoredItem[] = [];
  let open: Record<string, unknown>[] = keys.map(({ pk, sk }) => ({ pk, sk }));
  for (let attempt = 0; open.length > 0; attempt += 1) {
    if (attempt === MAX_ATTEMPTS) throw new UnprocessedKeysError();
    if (attempt > 0) await pause(fullJitterMs(BACKOFF, attempt));
    const { Responses, UnprocessedKeys } = await client.send(
      new BatchGetCommand({
        RequestItems: {
          [name]: { Keys: open, ProjectionExpression: projection, ConsistentRead: true },
        },
      }),
      abortSignal && { abortSignal },
    );
    items.push(...(Responses?.[name] ?? []));
    open = UnprocessedKeys?.[name]?.Keys ?? [];
  }
  return items;
};

/** The item of a key among the items of a batch. */
export const itemOf = (items: readonly StoredItem[], { pk, sk }: ItemKey): StoredItem | undefined =>
  items.find((item) => item.pk === pk && item.sk === sk);
