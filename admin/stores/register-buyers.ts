import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import type { Table } from '#shared/table/client.ts';
import { buyerKey } from '#shared/table/keys.ts';
import { backoff, batchGet, chunksOf } from './batch-get.ts';

/** A buyer to be registered. `phoneHashes`: under the current secret first, then under any older one still in use. */
export interface NewBuyer {
  readonly phoneHashes: readonly [string, ...string[]];
  readonly buyerId: string;
}

/** As many items as one BatchWriteItem takes. */
const BATCH_SIZE = 25;

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
  const keys = buyers.flatMap(({ phoneHashes }) => phoneHashes.map(buyerKey));
  const found = new Set((await batchGet(table, keys, 'pk')).map(({ pk }) => pk));
  const missing = buyers.filter(
    ({ phoneHashes }) => !phoneHashes.some((hash) => found.has(buyerKey(hash).pk)),
  );
  const requests = missing.map(({ phoneHashes: [current], buyerId }) => ({
    PutRequest: { Item: { ...buyerKey(current), buyer_id: buyerId, registered_at: registeredAt } },
  }));
  await Promise.all(chunksOf(requests, BATCH_SIZE).map((some) => write(table, some)));
  return missing.length;
};
