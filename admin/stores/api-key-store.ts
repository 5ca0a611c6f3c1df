import { GetCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { type KeySecret, keySecretSchema } from '#shared/api-keys/schema.ts';
import type { Table } from '#shared/table/client.ts';
import { API_KEY_PREFIX, apiKeyKey, keyIdKey, secretKey, sellerKey } from '#shared/table/keys.ts';
import type { TransactItem } from '#shared/table/writes.ts';
import { type ApiKey, apiKeySchema, keySecretOf } from './api-key-schema.ts';
import { auditPut, type NewAuditRecord } from './audit-store.ts';
import { batchGetAll } from './batch-get.ts';
import { queryAll } from './query-all.ts';
import { flushMarkRemoval, type SellerStatus, sellerCheck } from './seller-store.ts';
import { transact } from './transactions.ts';

/** The outcome of a change. `stale`: the key or its seller changed since it was read, so nothing was written. */
type SaveOutcome = 'saved' | 'stale';

/** A change of a key: the key before and after, the status of its seller when it was read, and the audit record. */
interface KeyChange {
  readonly before: ApiKey;
  readonly after: ApiKey;
  readonly sellerStatus: SellerStatus;
  readonly record: NewAuditRecord;
}

/** The attributes of a secret's item that follow from its key and seller. The authorizer writes the day of the last use. */
const FIELDS = (Object.keys(keySecretSchema.entries) as (keyof KeySecret)[]).filter(
  (field) => field !== 'last_used_day',
);

/** Sets the attributes of a secret's item, removes those without a value and leaves `last_used_day` alone. */
const secretUpdate = (TableName: string, hash: string, secret: KeySecret): TransactItem => {
  const present = FIELDS.filter((field) => secret[field] !== undefined);
  const absent = FIELDS.filter((field) => secret[field] === undefined);
  const set = `SET ${present.map((field) => `#${field} = :${field}`).join(', ')}`;
  return {
    Update: {
      TableName,
      Key: secretKey(hash),
      UpdateExpression:
        absent.length === 0 ? set : `${set} REMOVE ${absent.map((field) => `#${field}`).join(', ')}`,
      ExpressionAttributeNames: Object.fromEntries(FIELDS.map((field) => [`#${field}`, field])),
      ExpressionAttributeValues: Object.fromEntries(present.map((field) => [`:${field}`, secret[field]])),
    },
  };
};

const keyReads = (table: Table) => {
  const { client, name: TableName } = table;

  const find = async (keyId: string): Promise<ApiKey | undefined> => {
    const pointer = await client.send(
      new GetCommand({ TableName, Key: keyIdKey(keyId), ConsistentRead: true }),
    );
    if (pointer.Item === undefined) return undefined;
    const { Item } = await client.send(
      new GetCommand({
        TableName,
        Key: apiKeyKey(String(pointer.Item.seller_id), keyId),
        ConsistentRead: true,
      }),
    );
    return Item && v.parse(apiKeySchema, Item);
  };

  return {
    find,

    /** Reads the keys of a seller in the order of their creation. */
    async listOf(sellerId: string): Promise<ApiKey[]> {
      const keys: ApiKey[] = [];
      const range = { pk: sellerKey(sellerId).pk, sortKeyPrefix: API_KEY_PREFIX };
      for await (const items of queryAll(table, range)) {
        keys.push(...items.map((item) => v.parse(apiKeySchema, item)));
      }
      return keys.sort((a, b) => a.created_at.localeCompare(b.created_at));
    },

    /** Reads the items of any number of secrets, by their hashes. Missing items are left out. */
    async findSecrets(hashes: readonly string[]): Promise<Map<string, KeySecret>> {
      const items = await batchGetAll(table, hashes.map(secretKey));
      const hashOf = (pk: unknown): string => String(pk).slice(secretKey('').pk.length);
      return new Map(items.map((item) => [hashOf(item.pk), v.parse(keySecretSchema, item)]));
    },
  };
};

const keyWrites = (table: Table) => {
  const { name: TableName } = table;

  const secretUpdates = (key: ApiKey, sellerStatus: SellerStatus): TransactItem[] =>
    key.secrets.map((secret) => secretUpdate(TableName, secret.hash, keySecretOf(key, secret, sellerStatus)));

  const save = async (items: readonly TransactItem[], record?: NewAuditRecord): Promise<SaveOutcome> => {
    const { written } = await transact(
      table,
      record === undefined ? items : [...items, auditPut(table, record)],
    );
    return written ? 'saved' : 'stale';
  };

  return {
    /** Writes a pending key and the item that finds it by its id. `stale`: its seller is not active. */
    createPending: (key: ApiKey): Promise<SaveOutcome> =>
      save([
        sellerCheck(table, key.seller_id, 'active'),
        {
          Put: {
            TableName,
            Item: { ...apiKeyKey(key.seller_id, key.key_id), ...key },
            ConditionExpression: 'attribute_not_exists(pk)',
          },
        },
        { Put: { TableName, Item: { ...keyIdKey(key.key_id), seller_id: key.seller_id } } },
      ]),

    /** Writes a change of a key with all its secrets and the audit record, in one transaction. Dropped secrets are deleted. */
    save: ({ before, after, sellerStatus, record }: KeyChange): Promise<SaveOutcome> =>
      save(
        [
          sellerCheck(table, before.seller_id, sellerStatus),
          {
            Put: {
              TableName,
              Item: { ...apiKeyKey(after.seller_id, after.key_id), ...after, version: before.version + 1 },
              ConditionExpression: 'version = :version',
              ExpressionAttributeValues: { ':version': before.version },
            },
          },
          ...secretUpdates(after, sellerStatus),
          ...before.secrets
            .filter(({ hash }) => !after.secrets.some((kept) => kept.hash === hash))
            .map(({ hash }) => ({ Delete: { TableName, Key: secretKey(hash) } })),
        ],
        record,
      ),

    /** Writes the secrets' items of a key, and `record` with them. `stale`: the key or its seller's status changed since it was read. */
    writeSecrets: (key: ApiKey, sellerStatus: SellerStatus, record?: NewAuditRecord): Promise<SaveOutcome> =>
      save(
        [
          sellerCheck(table, key.seller_id, sellerStatus),
          {
            ConditionCheck: {
              TableName,
              Key: apiKeyKey(key.seller_id, key.key_id),
              ConditionExpression: 'version = :version',
              ExpressionAttributeValues: { ':version': key.version },
            },
          },
          ...secretUpdates(key, sellerStatus),
        ],
        record,
      ),

    /** Deletes a pending key. `stale`: it is not pending any more. */
    removePending: (key: ApiKey, record: NewAuditRecord): Promise<SaveOutcome> =>
      save(
        [
          {
            Delete: {
              TableName,
              Key: apiKeyKey(key.seller_id, key.key_id),
              ConditionExpression: '#status = :pending',
              ExpressionAttributeNames: { '#status': 'status' },
              ExpressionAttributeValues: { ':pending': 'pending' },
            },
          },
          { Delete: { TableName, Key: keyIdKey(key.key_id) } },
        ],
        record,
      ),

    /** Removes the mark of the change at `since`, and writes `record` with it. The mark of a later change stays. */
    async markFlushed(
      key: Pick<ApiKey, 'seller_id' | 'key_id'>,
      since: string,
      record?: NewAuditRecord,
    ): Promise<void> {
      await save([flushMarkRemoval(table, apiKeyKey(key.seller_id, key.key_id), since)], record);
    },
  };
};

/** The API keys of all sellers, with the items of their secrets. */
export const apiKeyStore = (table: Table) => ({ ...keyReads(table), ...keyWrites(table) });
