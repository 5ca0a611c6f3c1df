import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { newId } from '#admin/administration.ts';
import { issueKey } from '#admin/operations/issue-key.ts';
import { putAll } from '#admin/stores/batches.ts';
import type { Seller } from '#admin/stores/seller-store.ts';
import { localAdministration } from '#local/administration.ts';
import { ensureTable, startDatabase } from '#local/database.ts';
import { setLocalCredentials } from '#local/environment.ts';
import { usagePlansTable } from '#local/usage-plans.ts';
import { buyerStore } from '#shared/buyers/store.ts';
import { keyedHashesFrom } from '#shared/secrets/keyed-hashes.ts';
import { openTable } from '#shared/table/client.ts';
import { eventKey, removalBlockKey, removalSummaryKey, sellerKey, userKey } from '#shared/table/keys.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { blockOf, withCounted, withRemoved } from '#shared/users/removals.ts';
import { ordinalOf, userIdAt } from '#shared/users/user-id.ts';
import { type Round, SCOPES } from './operations.ts';

export const TABLE_NAME = 'buyer-linking-bench';
export const HASH_SECRET = JSON.stringify({ current: 'benchmark-'.repeat(5) });

const AN_HOUR_AGO = new Date(Date.now() - 3_600_000).toISOString();

/** The users of a seller: every n-th of those that it linked is removed; none if it is left out. */
interface SellerUsers {
  readonly linked: number;
  readonly removeEvery?: number;
}

const removedOf = ({ linked, removeEvery = linked + 1 }: SellerUsers): number[] =>
  Array.from({ length: Math.floor(linked / removeEvery) }, (_, index) => (index + 1) * removeEvery);

const sellerItem = (sellerId: string, users: SellerUsers): StoredItem => {
  const removed = removedOf(users).length;
  const seller: Seller = {
    seller_id: sellerId,
    name: 'Bench',
    status: 'active',
    user_count: users.linked,
    removed_count: removed,
    event_count: users.linked + removed,
    created_at: AN_HOUR_AGO,
  };
  return { ...sellerKey(sellerId), ...seller };
};

/** The id of a user of a benchmark. */
export const benchUserId = (ordinal: number): string => userIdAt(ordinal, '0'.repeat(15));

const userItem = (sellerId: string, ordinal: number): StoredItem => ({
  ...userKey(sellerId, ordinal),
  id: benchUserId(ordinal),
  national_id_last_four: '0829',
  birth_date: '1370/1/15',
  phone: `+98955${String(ordinal % 10_000_000).padStart(7, '0')}`,
  display_name: `Person ${ordinal}`,
  created_at: new Date(1_790_000_000_000 + ordinal * 1000).toISOString(),
  checked_at: new Date(1_790_000_000_000 + ordinal * 1000).toISOString(),
  last_event: ordinal,
});

/** The index of removals, as the removals would have written it. */
const removalItems = (sellerId: string, removed: readonly number[]): StoredItem[] => {
  let summary: Uint8Array | undefined;
  const bitmaps = new Map<number, Uint8Array>();
  for (const ordinal of removed) {
    const block = blockOf(ordinal);
    bitmaps.set(block, withRemoved(bitmaps.get(block), ordinal));
    summary = withCounted(summary, block);
  }
  const blocks = [...bitmaps].map(([block, bitmap]) => ({
    ...removalBlockKey(sellerId, block),
    removed_ordinals: bitmap,
  }));
  return summary === undefined
    ? []
    : [{ ...removalSummaryKey(sellerId), removed_counts: summary }, ...blocks];
};

export const startBenchDatabase = async () => {
  setLocalCredentials();
  const database = await startDatabase();
  const table = openTable(TABLE_NAME, database.endpoint);
  await ensureTable(table);
  await ensureTable(usagePlansTable(table));
  const hashes = keyedHashesFrom({ read: async () => HASH_SECRET });

  const addSeller = async (sellerId: string, users: SellerUsers): Promise<void> => {
    const removed = new Set(removedOf(users));
    const ordinals = Array.from({ length: users.linked }, (_, index) => index + 1);
    // Those before it have expired.
    const lastEvent = { type: 'user.updated', user_id: benchUserId(1), occurred_at: AN_HOUR_AGO };
    await putAll(table, [
      sellerItem(sellerId, users),
      { ...eventKey(sellerId, users.linked + removed.size), ...lastEvent },
      ...removalItems(sellerId, [...removed]),
      ...ordinals.filter((ordinal) => !removed.has(ordinal)).map((ordinal) => userItem(sellerId, ordinal)),
    ]);
  };

  return {
    url: database.endpoint,
    addSeller,

    /** Creates a seller with more users than a page has and a key. */
    async newSeller(): Promise<Pick<Round, 'sellerId' | 'apiKey' | 'keyId'>> {
      const sellerId = newId('sel');
      await addSeller(sellerId, { linked: 24 });
      const wanted = { sellerId, name: 'bench', plan: 'professional', scopes: SCOPES } as const;
      const { key, secret } = await issueKey(localAdministration(table, 'local:bench'), wanted);
      return { sellerId, apiKey: secret, keyId: key.key_id };
    },

    async ageCheck({ sellerId, userId }: Round): Promise<void> {
      const update = {
        TableName: table.name,
        Key: userKey(sellerId, Number(ordinalOf(userId))),
        UpdateExpression: 'SET checked_at = :at',
        ExpressionAttributeValues: { ':at': AN_HOUR_AGO },
      };
      await table.client.send(new UpdateCommand(update));
    },

    async registerBuyer(phone: string): Promise<void> {
      const [phoneHash, buyerId] = await Promise.all([hashes.phone(phone), hashes.buyerId(phone)]);
      await buyerStore(table).register(phoneHash.current, buyerId, new Date().toISOString());
    },

    async stop(): Promise<void> {
      table.client.destroy();
      await database.stop();
    },
  };
};
