import * as v from 'valibot';
import { limitOverridesSchema, PLAN_NAMES } from '#shared/rate-limits/plans.ts';
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
  /** The day (UTC) of its latest use. Only the authorizer writes it. */
  last_used_day: v.optional(v.string()),
});

export type KeySecret = v.InferOutput<typeof keySecretSchema>;

/** Returns whether a secret is valid now. The caller gets the same response for every reason. */
export const isUsable = (secret: KeySecret, nowMs: number): boolean =>
  secret.status === 'active' &&
  secret.seller_status === 'active' &&
  (secret.expires_at === undefined || secret.expires_at * 1000 > nowMs);
