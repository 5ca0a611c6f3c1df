import * as v from 'valibot';
import type { KeySecret } from '#shared/api-keys/schema.ts';
import { PLAN_NAMES } from '#shared/rate-limits/plans.ts';
import { SCOPES } from '#shared/scopes.ts';
import type { SellerStatus } from './seller-schema.ts';

/** One secret of a key: what may be kept of it, and what a person may see of it. */
const secretSummarySchema = v.object({
  hash: v.string(),
  prefix: v.string(),
  last_four: v.string(),
  created_at: v.string(),
  /** Epoch seconds: the end of a rotated secret's grace. The newest secret has none. */
  ends_at: v.optional(v.number()),
});

export type SecretSummary = v.InferOutput<typeof secretSummarySchema>;

/**
 * A key as its seller has it. It outlives its secrets: a rotation changes them and nothing else. `pending`: being issued, so it has
 * no working secret yet. Times are epoch seconds where they are compared, ISO where they are only shown.
 */
export const apiKeySchema = v.object({
  seller_id: v.string(),
  key_id: v.string(),
  name: v.string(),
  scopes: v.array(v.picklist(SCOPES)),
  plan: v.picklist(PLAN_NAMES),
  usage_id: v.string(),
  status: v.picklist(['pending', 'active', 'revoked']),
  /** The id that API Gateway gave to the key; there from the activation to the revocation. */
  gateway_key_id: v.optional(v.string()),
  created_at: v.string(),
  expires_at: v.optional(v.number()),
  /** Newest first. */
  secrets: v.array(secretSummarySchema),
  /** Raised by each change: two changes at the same moment cannot overwrite each other. */
  version: v.number(),
  /** Since when a change waits for the flush of the authorizer's cache: set with the change, taken away after the flush. */
  unflushed_since: v.optional(v.string()),
});

export type ApiKey = v.InferOutput<typeof apiKeySchema>;

const earliest = (...times: readonly (number | undefined)[]): number | undefined => {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
};

/** When a secret of a key ends: with its grace or with the key, whichever is first. */
export const secretEnd = (key: ApiKey, secret: SecretSummary): number | undefined =>
  earliest(secret.ends_at, key.expires_at);

/**
 * What the authorizer reads of a secret, worked out from its key and its seller. Every change of either writes this and nothing
 * else, and reconcile compares with it: there is one rule for what a secret's item says.
 */
export const keySecretOf = (key: ApiKey, secret: SecretSummary, sellerStatus: SellerStatus): KeySecret => {
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
  };
};
