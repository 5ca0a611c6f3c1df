import * as v from 'valibot';
import { limitOverridesSchema, PLAN_NAMES } from '#shared/rate-limits/plans.ts';
import { SCOPES } from '#shared/scopes.ts';
import type { KeySecret } from './schema.ts';

/** The stored form of one secret of a key. */
const secretSummarySchema = v.object({
  hash: v.string(),
  prefix: v.string(),
  last_four: v.string(),
  created_at: v.string(),
  /** Who made it: an admin, or the seller itself by POST /v1/key/secrets. */
  created_by: v.optional(v.picklist(['admin', 'seller']), 'admin'),
  /** The end of a rotated secret's grace period, in epoch seconds. The newest secret has none. */
  ends_at: v.optional(v.number()),
});

/** The stored summary of a secret. */
export type SecretSummary = v.InferOutput<typeof secretSummarySchema>;

/**
 * An API key. Its secrets change with a rotation; everything else stays. `pending`: the key is being issued and has no valid secret
 * yet. Times that are compared are epoch seconds, times that are only shown are ISO strings.
 */
export const apiKeySchema = v.object({
  seller_id: v.string(),
  key_id: v.string(),
  name: v.string(),
  scopes: v.array(v.picklist(SCOPES)),
  plan: v.picklist(PLAN_NAMES),
  /** Overrides of hourly and daily limits. */
  limits: v.optional(limitOverridesSchema),
  usage_id: v.string(),
  status: v.picklist(['pending', 'active', 'revoked']),
  /** The id of the key in API Gateway, from its activation to its revocation. */
  gateway_key_id: v.optional(v.string()),
  created_at: v.string(),
  expires_at: v.optional(v.number()),
  /** Newest first. */
  secrets: v.array(secretSummarySchema),
  /** Raised by each change, so that no change overwrites another. */
  version: v.number(),
  /** The time of a change after which the authorizer cache was not flushed yet. */
  unflushed_since: v.optional(v.string()),
});

/** An API key as it is stored. */
export type ApiKey = v.InferOutput<typeof apiKeySchema>;

const earliest = (...times: readonly (number | undefined)[]): number | undefined => {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
};

/** When a secret ends, in epoch seconds: with its grace period or with its key, whichever is first. */
export const secretEnd = (key: ApiKey, secret: SecretSummary): number | undefined =>
  earliest(secret.ends_at, key.expires_at);

/**
 * The item of a secret, as the authorizer reads it, derived from its key and its seller. Every change of a key or a seller writes
 * this, and reconcile compares with it.
 */
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
  };
};
