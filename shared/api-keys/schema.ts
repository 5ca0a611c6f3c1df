import * as v from 'valibot';
import { limitOverridesSchema, PLAN_NAMES } from '#shared/rate-limits/plans.ts';
import type { Permissions } from '#shared/route.ts';
import { SCOPES } from '#shared/scopes.ts';

/** The item of a key's secret: everything that the authorizer reads. Times are epoch seconds. */
export const keySecretSchema = v.object({
  seller_id: v.string(),
  key_id: v.string(),
  scopes: v.array(v.picklist(SCOPES)),
  plan: v.picklist(PLAN_NAMES),
  /** The opaque id of the key in API Gateway. API Gateway never gets the secret. */
  usage_id: v.string(),
  status: v.picklist(['active', 'revoked']),
  seller_status: v.picklist(['active', 'suspended']),
  expires_at: v.optional(v.number()),
  /** Overrides of the key's hourly and daily limits. */
  limits: v.optional(limitOverridesSchema),
  /** The day (UTC) of its latest use; none if it was never used. Only the authorizer writes it. */
  last_used_day: v.optional(v.string()),
});

export type KeySecret = v.InferOutput<typeof keySecretSchema>;

/** Returns whether a secret is valid now. The caller gets the same response for every reason. */
export const isUsable = (secret: KeySecret, nowMs: number): boolean =>
  secret.status === 'active' &&
  secret.seller_status === 'active' &&
  (secret.expires_at === undefined || secret.expires_at * 1000 > nowMs);

/** The items that the authorizer reads. It has no row in the route table, so its grants are derived from here. */
export const AUTHORIZER_PERMISSIONS = { table: { 'SECRET#': ['GetItem'] } } as const satisfies Permissions;

/**
 * The partition keys and the one attribute that the authorizer may write: the day on which a secret was last used. Its decision does
 * not use this attribute.
 */
export const AUTHORIZER_WRITES = {
  action: 'UpdateItem',
  partitionKeyPrefix: 'SECRET#',
  attributes: ['pk', 'sk', 'last_used_day'],
} as const;
