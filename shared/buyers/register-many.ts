import { BatchGetCommand, BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import type { Table } from '#shared/table/client.ts';
import { buyerKey } from '#shared/table/keys.ts';

/** A buyer to be registered. `phoneDigests`: under the current secret first, then under any older one still in use. */
export interface NewBuyer {
  readonly phoneDigests: readonly [string, ...string[]];
  readonly buyerId: string;
}

/** As many items as one BatchGetItem and one BatchWriteItem take. */
const READ_BATCH = 100;
const WRITE_BATCH = 25;

const BACKOFF_BASE_MS = 50;
const BACKOFF_CAP_MS = 10_000;

const chunksOf = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );

const backoff = (attempt: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, Math.random() * Math.min(BACKOFF_CAP_MS, BACKOFF_BASE_MS * 2 ** attempt));
  });

/** The digests that have an item. What the table leaves unprocessed is asked for again. */
const existing = async ({ client, name }: Table, digests: readonly string[]): Promise<Set<string>> => {
  const found = new Set<string>();
  const digestOf = new Map(digests.map((digest) => [buyerKey(digest).pk, digest]));
  let keys: Record<string, unknown>[] = digests.map((digest) => ({ ...buyerKey(digest) }));
  for (let attempt = 0; keys.length > 0; attempt += 1) {
    if (attempt > 0) await backoff(attempt);
    const { Responses, UnprocessedKeys } = await client.send(
      new BatchGetCommand({
        RequestItems: { [name]: { Keys: keys, ProjectionExpression: 'pk', ConsistentRead: true } },
      }),
    );
    for (const { pk } of Responses?.[name] ?? []) found.add(digestOf.get(String(pk)) ?? '');
    keys = UnprocessedKeys?.[name]?.Keys ?? [];
  }
  return found;
};

type WriteRequests = NonNullable<ConstructorParameters<typeof BatchWriteCommand>[0]['RequestItems']>[string];

const write = async ({ client, name }: Table, requests: WriteRequests): Promise<void> => {
  let open = requests;
  for (let attempt = 0; open.length > 0; attempt += 1) {
    if (attempt > 0) await backoff(attempt);
    const { UnprocessedItems } = await client.send(new BatchWriteCommand({ RequestItems: { [name]: open } }));
    open = UnprocessedItems?.[name] ?? [];
  }
};

/**
 * Registers those of the buyers (any number, each once) who are not registered yet, and says how many they were. Who is registered
 * keeps the time of registration: it is looked up first, for a batch can write only without a condition.
 *
 * Between the look-up and the write the buyer app may register the same phone. Then this write comes second and sets the same
 * buyer id, which follows from the phone alone, and a time of registration a moment off; an item of a buyer holds nothing else.
 */
export const registerMany = async (
  table: Table,
  buyers: readonly NewBuyer[],
  registeredAt: string,
): Promise<number> => {
  const digests = buyers.flatMap(({ phoneDigests }) => phoneDigests);
  const found = await Promise.all(chunksOf(digests, READ_BATCH).map((some) => existing(table, some)));
  const isThere = (digest: string): boolean => found.some((some) => some.has(digest));
  const missing = buyers.filter(({ phoneDigests }) => !phoneDigests.some(isThere));
  const requests = missing.map(({ phoneDigests: [current], buyerId }) => ({
    PutRequest: { Item: { ...buyerKey(current), buyer_id: buyerId, registered_at: registeredAt } },
  }));
  await Promise.all(chunksOf(requests, WRITE_BATCH).map((some) => write(table, some)));
  return missing.length;
};
