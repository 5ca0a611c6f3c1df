import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { type KeySecret, keySecretSchema } from '#shared/api-keys/schema.ts';
import type { Table } from '#shared/table/client.ts';
import { API_KEY_PREFIX, apiKeyKey, keyIdKey, secretKey, sellerKey } from '#shared/table/keys.ts';
import { conditionalWrite, type TransactItem } from '#shared/table/writes.ts';
import { type ApiKey, apiKeySchema, keySecretOf } from './api-key-schema.ts';
import { auditPut, type NewAuditRecord } from './audit-store.ts';
import { batchGet } from './batch-get.ts';
import { queryAll } from './query-all.ts';
import type { SellerStatus } from './seller-schema.ts';
import { sellerCheck } from './seller-store.ts';
import { transact } from './transactions.ts';

/** Whether a change was written. `stale`: the key or its seller is no longer what the change was worked out from. */
export type SaveOutcome = 'saved' | 'stale';

/** A change of a key: what it was read as, what it becomes, the status its seller was read with, and the record of it. */
export interface KeyChange {
  readonly before: ApiKey;
  readonly after: ApiKey;
  readonly sellerStatus: SellerStatus;
  readonly record: NewAuditRecord;
}

/** The fields of a secret's item that admins write. The authorizer writes the day of its latest use. */
const SECRET_FIELDS = Object.keys(keySecretSchema.entries).filter((field) => field !== 'last_used_day');

/** Sets every field of a secret's item that has a value and removes the others. */
const secretUpdate = (TableName: string, hash: string, secret: KeySecret): TransactItem => {
  const values = new Map(Object.entries(secret).filter(([, value]) => value !== undefined));
  const absent = SECRET_FIELDS.filter((field) => !values.has(field));
  const assignments = [...values.keys()].map((field) => `#${field} = :${field}`);
  const removal = absent.length === 0 ? '' : ` REMOVE ${absent.map((field) => `#${field}`).join(', ')}`;
  return {
    Update: {
      TableName,
      Key: secretKey(hash),
      UpdateExpression: `SET ${assignments.join(', ')}${removal}`,
      ExpressionAttributeNames: Object.fromEntries(SECRET_FIELDS.map((field) => [`#${field}`, field])),
      ExpressionAttributeValues: Object.fromEntries(
        [...values].map(([field, value]) => [`:${field}`, value]),
      ),
    },
  };
};

export const apiKeyStore = (table: Table) => {
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

  const secretUpdates = (key: ApiKey, sellerStatus: SellerStatus): TransactItem[] =>
    key.secrets.map((secret) => secretUpdate(TableName, secret.hash, keySecretOf(key, secret, sellerStatus)));

  return {
    find,

    /** The keys of a seller, in the order of their creation. */
    async listOf(sellerId: string): Promise<ApiKey[]> {
      const keys: ApiKey[] = [];
      const range = { pk: sellerKey(sellerId).pk, sortKeyPrefix: API_KEY_PREFIX };
      for await (const items of queryAll(table, range)) {
        keys.push(...items.map((item) => v.parse(apiKeySchema, item)));
      }
      return keys.sort((a, b) => a.created_at.localeCompare(b.created_at));
    },

    /** The items of any number of secrets, by their hashes; those that are missing are left out. */
    async findSecrets(hashes: readonly string[]): Promise<Map<string, KeySecret>> {
      const items = await batchGet(table, hashes.map(secretKey));
      const hashOf = (pk: unknown): string => String(pk).slice(secretKey('').pk.length);
      return new Map(items.map((item) => [hashOf(item.pk), v.parse(keySecretSchema, item)]));
    },

    /** Writes a pending key and the way to it. `stale`: its seller is not active. */
    async createPending(key: ApiKey): Promise<SaveOutcome> {
      const written = await transact(table, [
        sellerCheck(table, key.seller_id, 'active'),
        {
          Put: {
            TableName,
            Item: { ...apiKeyKey(key.seller_id, key.key_id), ...key },
            ConditionExpression: 'attribute_not_exists(pk)',
          },
        },
        { Put: { TableName, Item: { ...keyIdKey(key.key_id), seller_id: key.seller_id } } },
      ]);
      return written.written ? 'saved' : 'stale';
    },

    /** Writes a change of a key with all its secrets and the record of it, at once or not at all. Secrets it no longer has go. */
    async save({ before, after, sellerStatus, record }: KeyChange): Promise<SaveOutcome> {
      const written = await transact(table, [
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
        auditPut(table, record),
      ]);
      return written.written ? 'saved' : 'stale';
    },

    /** Writes a key's secrets anew. `stale`: the key was changed since it was read, or its seller has another status. */
    async writeSecrets(key: ApiKey, sellerStatus: SellerStatus): Promise<SaveOutcome> {
      const written = await transact(table, [
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
      ]);
      return written.written ? 'saved' : 'stale';
    },

    /** Takes a pending key away as if it had never been asked for. `stale`: it is pending no more. */
    async removePending(key: ApiKey, record: NewAuditRecord): Promise<SaveOutcome> {
      const written = await transact(table, [
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
        auditPut(table, record),
      ]);
      return written.written ? 'saved' : 'stale';
    },

    /** Takes the mark away that the change of `since` left; a later change keeps its own. */
    async markFlushed(key: Pick<ApiKey, 'seller_id' | 'key_id'>, since: string): Promise<void> {
      await conditionalWrite(
        client.send(
          new UpdateCommand({
            TableName,
            Key: apiKeyKey(key.seller_id, key.key_id),
            UpdateExpression: 'REMOVE unflushed_since',
            ConditionExpression: 'unflushed_since = :since',
            ExpressionAttributeValues: { ':since': since },
          }),
        ),
      );
    },
  };
};

export type ApiKeyStore = ReturnType<typeof apiKeyStore>;
