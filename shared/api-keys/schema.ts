import * as v from 'valibot';
import { PLAN_NAMES } from '#shared/rate-limits/plans.ts';
import { SCOPES } from '#shared/scopes.ts';

/** What the authorizer reads: everything it needs of a key's secret, in one item. Times are epoch seconds. */
export const keySecretSchema = v.object({
  seller_id: v.string(),
  key_id: v.string(),
  scopes: v.array(v.picklist(SCOPES)),
  plan: v.picklist(PLAN_NAMES),
  /** The opaque id that API Gateway knows the key by; the secret never gets there. */
  usage_id: v.string(),
  status: v.picklist(['active', 'revoked']),
  seller_status: v.picklist(['active', 'suspended']),
  expires_at: v.optional(v.number()),
  /** The day (UTC) of its newest use. The authorizer alone writes it. */
  last_used_day: v.optional(v.string()),
});

export type KeySecret = v.InferOutput<typeof keySecretSchema>;
