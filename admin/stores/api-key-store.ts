import * as v from 'valibot';
import {
  type ApiKey,
  apiKeySchema,
  type KeyChange,
  type KeySecret,
  keyChangeActions,
  keySecretSchema,
  secretUpdates,
} from '#shared/api-keys/api-key-item.ts';
import type { NewAuditRecord } from '#shared/audit.ts';
import type { Table } from '#shared/table/client.ts';
import { ifEqual, setting } from '#shared/table/conditions.ts';
import { API_KEY_PREFIX, apiKeyKey, keyIdKey, keySecretKey, sellerKey } from '#shared/table/keys.ts';
import { getItem, queryAll } from '#shared/table/reads.ts';
import { batchGetAll } from './batches.ts';
import { ifSellerIs, type SellerStatus } from './seller-store.ts';
import { ifAbsent, transact } from './transactions.ts';

const keyReads = (table: Table) => ({
  /** `sellerId`: without it, the key's item that finds it by its id is read first. A damaged table may lack that. */
  async find(keyId: string, sellerId?: string): Promise<ApiKey | undefined> {
    const owner = sellerId ?? (await getItem(table, keyIdKey(keyId)))?.seller_id;
    if (owner === undefined) return undefined;
    const item = await getItem(table, apiKeyKey(String(owner), keyId));
    return item && v.parse(apiKeySchema, item);
  },

  /** Reads the keys of a seller in the order of their creation. */
  async listOf(sellerId: string): Promise<ApiKey[]> {
    const items = await queryAll(table, { pk: sellerKey(sellerId).pk, prefix: API_KEY_PREFIX });
    const keys = items.map((item) => v.parse(apiKeySchema, item));
    return keys.sort((a, b) => a.created_at.localeCompare(b.created_at));
  },

  /** Reads the items of all secrets of some keys, by their hashes. Missing items are left out. */
  async findSecrets(keys: readonly ApiKey[]): Promise<Map<string, KeySecret>> {
    const hashes = keys.flatMap(({ secrets }) => secrets.map(({ hash }) => hash));
    const items = await batchGetAll(table, hashes.map(keySecretKey));
    const hashOf = (pk: unknown): string => String(pk).slice(keySecretKey('').pk.length);
    return new Map(items.map((item) => [hashOf(item.pk), v.parse(keySecretSchema, item)]));
  },
});

/** The writes return whether they were made. If the key or its seller changed since it was read, nothing is written. */
const keyWrites = (table: Table) => {
  const { name: TableName } = table;

  return {
    /** Writes a pending key and the item that finds it by its id, if its seller is active. */
    createPending: (key: ApiKey): Promise<boolean> =>
      transact(table, [
        ifSellerIs(table, key.seller_id, 'active'),
        { Put: { TableName, Item: { ...apiKeyKey(key.seller_id, key.key_id), ...key }, ...ifAbsent } },
        { Put: { TableName, Item: { ...keyIdKey(key.key_id), seller_id: key.seller_id } } },
      ]),

    save: (change: KeyChange): Promise<boolean> => transact(table, keyChangeActions(TableName, change)),

    /** Writes the secrets' items of a key, and `record` with them. */
    writeSecrets(key: ApiKey, sellerStatus: SellerStatus, record?: NewAuditRecord): Promise<boolean> {
      const Key = apiKeyKey(key.seller_id, key.key_id);
      const items = [
        ifSellerIs(table, key.seller_id, sellerStatus),
        { ConditionCheck: { TableName, Key, ...ifEqual('version', key.version) } },
        ...secretUpdates(TableName, key, sellerStatus),
      ];
      return transact(table, items, record);
    },
  };
};

/** Revocations and deletions. */
const keyEnds = (table: Table) => {
  const { name: TableName } = table;

  return {
    /**
     * Marks a key as revoked, whoever else changes it: no rotation adds a secret from then on. False: it is revoked already. Its secrets
     * are valid until `revokeSecrets`.
     */
    revoke({ seller_id, key_id }: ApiKey, record: NewAuditRecord): Promise<boolean> {
      const Update = {
        TableName,
        Key: apiKeyKey(seller_id, key_id),
        UpdateExpression: 'SET #status = :revoked, unflushed_since = :at ADD version :one',
        ConditionExpression: 'attribute_exists(pk) AND #status <> :revoked',
        ExpressionAttributeNames: { '#status': 'status' },
        ExpressionAttributeValues: { ':revoked': 'revoked', ':at': record.at, ':one': 1 },
      };
      return transact(table, [{ Update }], record);
    },

    /** Makes all secrets of a revoked key invalid. Running it again finishes what was interrupted. */
    async revokeSecrets({ secrets }: ApiKey): Promise<void> {
      // The condition keeps a damaged table from getting an item that holds a status only.
      const update = { ...setting({ status: 'revoked' }), ConditionExpression: 'attribute_exists(pk)' };
      for (const { hash } of secrets) {
        await transact(table, [{ Update: { TableName, Key: keySecretKey(hash), ...update } }]);
      }
    },

    /** Deletes a key that is still pending, so no item of its secret exists. */
    removePending({ seller_id, key_id }: ApiKey, record: NewAuditRecord): Promise<boolean> {
      const Key = apiKeyKey(seller_id, key_id);
      const items = [
        { Delete: { TableName, Key, ...ifEqual('status', 'pending') } },
        { Delete: { TableName, Key: keyIdKey(key_id) } },
      ];
      return transact(table, items, record);
    },

    /** Deletes a revoked key with its secrets, for a seller that is deleted. */
    async removeRevoked({ seller_id, key_id, secrets }: ApiKey): Promise<void> {
      const Key = apiKeyKey(seller_id, key_id);
      await transact(table, [
        { Delete: { TableName, Key, ...ifEqual('status', 'revoked') } },
        { Delete: { TableName, Key: keyIdKey(key_id) } },
        ...secrets.map(({ hash }) => ({ Delete: { TableName, Key: keySecretKey(hash) } })),
      ]);
    },
  };
};

/** The API keys of all sellers, with the items of their secrets. */
export const apiKeyStore = (table: Table) => ({
  ...keyReads(table),
  ...keyWrites(table),
  ...keyEnds(table),
});
