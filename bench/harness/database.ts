import { BatchWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { createSeller } from '#admin/operations/create-seller.ts';
import { issueKey } from '#admin/operations/issue-key.ts';
import type { UsagePlans } from '#admin/usage-plans/port.ts';
import { foreignDatabase, startDatabase } from '#local/database.ts';
import { chosenDatabaseEndpoint, FIXED_ACCESS_KEY_ID, setLocalCredentials } from '#local/environment.ts';
import { localAdministration } from '#local/local-administration.ts';
import { ensureTable } from '#local/table.ts';
import { openUsagePlans } from '#local/usage-plans/store.ts';
import { hashApiKey } from '#shared/api-keys/format.ts';
import { keySecretStore } from '#shared/api-keys/store.ts';
import { buyerStore } from '#shared/buyers/store.ts';
import { systemClock } from '#shared/clock.ts';
import { keyedHashesFrom } from '#shared/secrets/keyed-hashes.ts';
import type { SecretSource } from '#shared/secrets/port.ts';
import { openTable, type Table } from '#shared/table/client.ts';
import { sellerKey, userKey } from '#shared/table/keys.ts';

/** The table of the benchmarks. */
export const TABLE_NAME = 'buyer-linking-bench';
/** The hash secret of the benchmarks. */
export const HASH_SECRET = JSON.stringify({ current: 'benchmark-'.repeat(5) });

/** The most items that one BatchWriteItem takes. */
const BATCH_SIZE = 25;

/** The item of the user with this ordinal. */
export const userItem = (sellerId: string, ordinal: number) => ({
  ...userKey(sellerId, ordinal),
  id: `usr_${String(ordinal).padStart(22, '0')}`,
  national_id_last_four: '0829',
  birth_date: '1370/1/15',
  phone: `+98955${String(ordinal % 10_000_000).padStart(7, '0')}`,
  display_name: `Person ${ordinal}`,
  created_at: new Date(1_790_000_000_000 + ordinal * 1000).toISOString(),
});

/** The operations that prepare a table for a benchmark. */
export const preparations = (table: Table, usagePlans: UsagePlans, hashSecret: SecretSource) => {
  const admin = localAdministration(table, usagePlans);
  const hashes = keyedHashesFrom(hashSecret);
  /** Creates a key that was already used today. */
  const newKey = async (sellerId: string): Promise<string> => {
    const scopes = ['users:read', 'users:write'] as const;
    const { secret } = await issueKey(admin, { sellerId, name: 'bench', plan: 'professional', scopes });
    await keySecretStore(table).recordUse(hashApiKey(secret), new Date().toISOString().slice(0, 10));
    return secret;
  };
  return {
    newKey,
    /** Creates a seller with a key and 25 users. */
    async newSeller(): Promise<{ readonly sellerId: string; readonly apiKey: string }> {
      const { seller_id: sellerId } = await createSeller(admin, 'Bench');
      const apiKey = await newKey(sellerId);
      const puts = Array.from({ length: BATCH_SIZE }, (_, index) => ({
        PutRequest: { Item: userItem(sellerId, index + 1) },
      }));
      await table.client.send(new BatchWriteCommand({ RequestItems: { [table.name]: puts } }));
      await table.client.send(
        new UpdateCommand({
          TableName: table.name,
          Key: sellerKey(sellerId),
          UpdateExpression: 'SET user_count = :users',
          ExpressionAttributeValues: { ':users': BATCH_SIZE },
        }),
      );
      return { sellerId, apiKey };
    },
    /** Registers the buyer of a phone. */
    async registerBuyer(phone: string): Promise<void> {
      const [[phoneHash], buyerId] = await Promise.all([hashes.phone(phone), hashes.buyerId(phone)]);
      await buyerStore(table).register(phoneHash, buyerId, new Date().toISOString());
    },
  };
};

/**
 * Starts an embedded database with the table, in memory unless a file is given. DYNAMODB_ENDPOINT selects another database. Its
 * calls are to go through the recorder, so the functions do not get the variable.
 */
export const startBenchDatabase = async (file?: string) => {
  const endpoint = chosenDatabaseEndpoint();
  delete process.env.DYNAMODB_ENDPOINT;
  setLocalCredentials();
  const database =
    endpoint === undefined
      ? await startDatabase({ accessKeyId: FIXED_ACCESS_KEY_ID, ...(file === undefined ? {} : { file }) })
      : foreignDatabase(endpoint, FIXED_ACCESS_KEY_ID);
  const table = openTable(TABLE_NAME, database.endpoint);
  await ensureTable(table);
  const usagePlans = await openUsagePlans({ clock: systemClock });
  return {
    url: database.endpoint,
    ...preparations(table, usagePlans, { read: async () => HASH_SECRET }),
    async stop(): Promise<void> {
      table.client.destroy();
      await usagePlans.close();
      await database.stop();
    },
  };
};

export type BenchDatabase = Awaited<ReturnType<typeof startBenchDatabase>>;
