import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { randomIds } from '#admin/ids.ts';
import { issueKey } from '#admin/operations/issue-key.ts';
import type { Seller } from '#admin/stores/seller-store.ts';
import type { UsagePlans } from '#admin/usage-plans/port.ts';
import { localUsagePlans } from '#local/api-gateway/client.ts';
import { startApiGateway } from '#local/api-gateway/server.ts';
import { foreignDatabase, startDatabase } from '#local/database.ts';
import { chosenDatabaseEndpoint, FIXED_ACCESS_KEY_ID, setLocalCredentials } from '#local/environment.ts';
import { localAdministration } from '#local/local-administration.ts';
import { ensureTable } from '#local/table.ts';
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

/** The users of a new seller: more than a page has. With their seller they fit into one BatchWriteItem of 25 items. */
const USERS = 24;

/** The items of a seller with users. */
export function* sellerItems(sellerId: string, users: number): Generator<object> {
  const seller: Seller = {
    seller_id: sellerId,
    name: 'Bench',
    status: 'active',
    user_count: users,
    removed_count: 0,
    created_at: new Date().toISOString(),
  };
  yield { ...sellerKey(sellerId), ...seller };
  for (let ordinal = 1; ordinal <= users; ordinal += 1) {
    yield {
      ...userKey(sellerId, ordinal),
      id: `usr_${String(ordinal).padStart(22, '0')}`,
      national_id_last_four: '0829',
      birth_date: '1370/1/15',
      phone: `+98955${String(ordinal % 10_000_000).padStart(7, '0')}`,
      display_name: `Person ${ordinal}`,
      created_at: new Date(1_790_000_000_000 + ordinal * 1000).toISOString(),
    };
  }
}

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
    /** Creates a seller with a key and users. */
    async newSeller(): Promise<{ readonly sellerId: string; readonly apiKey: string }> {
      const sellerId = randomIds('sel');
      const puts = [...sellerItems(sellerId, USERS)].map((Item) => ({ PutRequest: { Item } }));
      await table.client.send(new BatchWriteCommand({ RequestItems: { [table.name]: puts } }));
      return { sellerId, apiKey: await newKey(sellerId) };
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
  const apiGateway = await startApiGateway({ clock: systemClock });
  const { usagePlans, close } = localUsagePlans(apiGateway.access);
  return {
    url: database.endpoint,
    table,
    ...preparations(table, usagePlans, { read: async () => HASH_SECRET }),
    async stop(): Promise<void> {
      table.client.destroy();
      close();
      await apiGateway.close();
      await database.stop();
    },
  };
};
