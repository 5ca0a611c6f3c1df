import { setTimeout as pause } from 'node:timers/promises';
import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { type Backoff, fullJitterMs } from '#shared/table/backoff.ts';
import type { Table } from '#shared/table/client.ts';
import { chunksOf } from '#shared/table/reads.ts';

/** The most items that one BatchWriteItem takes. */
const BATCH_SIZE = 25;
const THROTTLED: Backoff = { baseMs: 50, capMs: 10_000 };

export type WriteRequest = NonNullable<
  ConstructorParameters<typeof BatchWriteCommand>[0]['RequestItems']
>[string][number];

/** Writes a batch. Items that a throttled table leaves unprocessed are sent again until all are written. */
const writeBatch = async ({ client, name }: Table, requests: WriteRequest[]): Promise<void> => {
  let open = requests;
  for (let attempt = 0; open.length > 0; attempt += 1) {
    if (attempt > 0) await pause(fullJitterMs(THROTTLED, attempt));
    const { UnprocessedItems } = await client.send(new BatchWriteCommand({ RequestItems: { [name]: open } }));
    open = UnprocessedItems?.[name] ?? [];
  }
};

/** Puts and deletes any number of items, each once, without conditions and in no order. */
export const batchWriteAll = async (table: Table, requests: readonly WriteRequest[]): Promise<void> => {
  await Promise.all(chunksOf(requests, BATCH_SIZE).map((chunk) => writeBatch(table, chunk)));
};
