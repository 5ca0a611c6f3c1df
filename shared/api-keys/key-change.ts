/** The transaction that changes a key: the key and all its secrets change together, or not at all. */
import { isDeepStrictEqual } from 'node:util';
import { setting, settingIfEqual } from '#shared/table/conditions.ts';
import { apiKeyKey, secretKey } from '#shared/table/keys.ts';
import type { TransactItem } from '#shared/table/writes.ts';
import { type ApiKey, apiKeySchema, keySecretOf } from './api-key.ts';
import { type KeySecret, keySecretSchema } from './schema.ts';

/** The attributes of a secret's item that follow from its key and seller. The authorizer writes the day of the last use. */
const SECRET_FIELDS = (Object.keys(keySecretSchema.entries) as (keyof KeySecret)[]).filter(
  (field) => field !== 'last_used_day',
);

const KEY_FIELDS = Object.keys(apiKeySchema.entries) as (keyof ApiKey)[];

/** The items that write all secrets of a key as they follow from the key and its seller. */
export const secretUpdates = (
  TableName: string,
  key: ApiKey,
  sellerStatus: KeySecret['seller_status'],
): TransactItem[] =>
  key.secrets.map((secret) => {
    const values = keySecretOf(key, secret, sellerStatus);
    const attributes = Object.fromEntries(SECRET_FIELDS.map((field) => [field, values[field]]));
    return { Update: { TableName, Key: secretKey(secret.hash), ...setting(attributes) } };
  });

/** The item that writes the changed attributes of a key, if nobody else has changed the key since it was read. */
export const keyUpdate = (TableName: string, before: ApiKey, after: ApiKey): TransactItem => {
  const changed = KEY_FIELDS.filter((field) => !isDeepStrictEqual(before[field], after[field]));
  const attributes = Object.fromEntries(changed.map((field) => [field, after[field]]));
  const Key = apiKeyKey(before.seller_id, before.key_id);
  const update = settingIfEqual({ ...attributes, version: before.version + 1 }, ['version', before.version]);
  return { Update: { TableName, Key, ...update } };
};
