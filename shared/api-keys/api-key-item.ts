import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { auditPut, type NewAuditRecord } from '#shared/audit.ts';
import { limitOverridesSchema } from '#shared/rate-limits/key-limits.ts';
import type { PlanName } from '#shared/rate-limits/plans.ts';
import type { Scope } from '#shared/scopes.ts';
import { ifEqual, setting, settingIfEqual } from '#shared/table/conditions.ts';
import { apiKeyKey, keySecretKey, sellerKey } from '#shared/table/keys.ts';
import type { Action, TransactItem } from '#shared/table/writes.ts';

/**
 * A later version may have written scopes and a plan that this one does not know, before a rollback. They are read and written as they are, so
 * that no change of something else loses them; whoever acts by them reduces them with `withKnownValues`.
 */
const asStored = {
  scopes: v.array(v.custom<Scope>((value) => typeof value === 'string')),
  plan: v.custom<PlanName>((value) => typeof value === 'string'),
};

/** Everything that the authorizer reads. Times are epoch seconds. */
export const keySecretSchema = v.object({
  seller_id: v.string(),
  key_id: v.string(),
  ...asStored,
  /** The opaque id of the key in API Gateway. API Gateway never gets the secret. */
  usage_id: v.string(),
  status: v.picklist(['active', 'revoked']),
  seller_status: v.picklist(['active', 'suspended']),
  expires_at: v.optional(v.number()),
  limits: v.optional(limitOverridesSchema),
  number: v.number(),
});

export type KeySecret = v.InferOutput<typeof keySecretSchema>;

/** The caller gets the same response for every reason. */
export const isUsable = (secret: KeySecret, nowMs: number): boolean =>
  secret.status === 'active' &&
  secret.seller_status === 'active' &&
  (secret.expires_at === undefined || secret.expires_at * 1000 > nowMs);

const secretSummarySchema = v.object({
  hash: v.string(),
  /** Its number among all secrets that the key ever had, from 1. */
  number: v.number(),
  prefix: v.string(),
  last_four: v.string(),
  created_at: v.string(),
  /** Who made it: an admin, or the seller itself by POST /v1/key/secrets. */
  created_by: v.optional(v.picklist(['admin', 'seller']), 'admin'),
  /** The end of a rotated secret's grace period, in epoch seconds. The newest secret has none. */
  ends_at: v.optional(v.number()),
});

export type SecretSummary = v.InferOutput<typeof secretSummarySchema>;

/** `pending`: the key is being issued and has no valid secret yet. Times that are only shown are ISO strings, others epoch seconds. */
export const apiKeySchema = v.object({
  seller_id: v.string(),
  key_id: v.string(),
  name: v.string(),
  ...asStored,
  limits: v.optional(limitOverridesSchema),
  usage_id: v.string(),
  status: v.picklist(['pending', 'active', 'revoked']),
  created_at: v.string(),
  expires_at: v.optional(v.number()),
  /** Newest first. */
  secrets: v.array(secretSummarySchema),
  /** Raised by each change, so that no change overwrites another. */
  version: v.number(),
  /** The time of a change after which the authorizer cache was not flushed yet. */
  unflushed_since: v.optional(v.string()),
});

export type ApiKey = v.InferOutput<typeof apiKeySchema>;

const earliest = (...times: readonly (number | undefined)[]): number | undefined => {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
};

/** Epoch seconds: the end of its grace period or of its key, whichever is first. */
export const secretEnd = (key: ApiKey, secret: SecretSummary): number | undefined =>
  earliest(secret.ends_at, key.expires_at);

/** Derives the item of a secret. Every change of a key or a seller writes it, and reconcile compares with it. */
export const keySecretOf = (
  key: ApiKey,
  secret: SecretSummary,
  sellerStatus: KeySecret['seller_status'],
): KeySecret => {
  const end = secretEnd(key, secret);
  return {
    seller_id: key.seller_id,
    key_id: key.key_id,
    scopes: key.scopes,
    plan: key.plan,
    usage_id: key.usage_id,
    status: key.status === 'active' ? 'active' : 'revoked',
    seller_status: sellerStatus,
    ...(end === undefined ? {} : { expires_at: end }),
    ...(key.limits === undefined ? {} : { limits: key.limits }),
    number: secret.number,
  };
};

const SECRET_FIELDS = Object.keys(keySecretSchema.entries) as (keyof KeySecret)[];

const KEY_FIELDS = Object.keys(apiKeySchema.entries) as (keyof ApiKey)[];

export const secretUpdates = (
  TableName: string,
  key: ApiKey,
  sellerStatus: KeySecret['seller_status'],
): TransactItem[] =>
  key.secrets.map((secret) => {
    const values = keySecretOf(key, secret, sellerStatus);
    const attributes = Object.fromEntries(SECRET_FIELDS.map((field) => [field, values[field]]));
    return { Update: { TableName, Key: keySecretKey(secret.hash), ...setting(attributes) } };
  });

export interface KeyChange {
  readonly before: ApiKey;
  readonly after: ApiKey;
  readonly sellerStatus: KeySecret['seller_status'];
  readonly record: NewAuditRecord;
}

/** What was changed since it was read. */
type KeyChangeOutcome = 'seller_changed' | 'key_changed';

/** The key and its secrets change together. Secrets that `after` lacks are deleted. */
export const keyChangeActions = (
  TableName: string,
  { before, after, sellerStatus, record }: KeyChange,
): Action<KeyChangeOutcome>[] => {
  const dropped = before.secrets.filter(({ hash }) => !after.secrets.some((kept) => kept.hash === hash));
  return [
    {
      ConditionCheck: { TableName, Key: sellerKey(before.seller_id), ...ifEqual('status', sellerStatus) },
      otherwise: 'seller_changed',
    },
    keyUpdate(TableName, before, after),
    ...secretUpdates(TableName, after, sellerStatus),
    ...dropped.map(({ hash }) => ({ Delete: { TableName, Key: keySecretKey(hash) } })),
    auditPut({ name: TableName }, record),
  ];
};

const keyUpdate = (TableName: string, before: ApiKey, after: ApiKey): Action<KeyChangeOutcome> => {
  const changed = KEY_FIELDS.filter((field) => !isDeepStrictEqual(before[field], after[field]));
  const attributes = Object.fromEntries(changed.map((field) => [field, after[field]]));
  const Key = apiKeyKey(before.seller_id, before.key_id);
  const update = settingIfEqual({ ...attributes, version: before.version + 1 }, ['version', before.version]);
  return { Update: { TableName, Key, ...update }, otherwise: 'key_changed' };
};
