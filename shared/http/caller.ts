import * as v from 'valibot';
import { problem } from '#shared/problems.ts';
import { PLAN_NAMES, type PlanName } from '#shared/rate-limits/plans.ts';
import type { Scope } from '#shared/scopes.ts';

/**
 * What the authorizer says of a key and API Gateway hands on with the request. Every value is text there: the gateway turns
 * numbers and booleans into text anyway.
 */
const callerSchema = v.object({
  sellerId: v.string(),
  keyId: v.string(),
  plan: v.picklist(PLAN_NAMES),
  /** Space-separated. */
  scopes: v.string(),
  /** Epoch seconds; empty if the key does not expire. Nothing that AWS documents says whether an empty value is handed on. */
  expiresAt: v.optional(v.string(), ''),
});

/** Who makes a request. */
export interface Caller {
  readonly sellerId: string;
  readonly keyId: string;
  readonly plan: PlanName;
  readonly scopes: readonly Scope[];
}

/** The authorizer's context as the authorizer writes it. */
export type AuthorizerContext = v.InferInput<typeof callerSchema>;

/**
 * The caller of a request. The authorizer's answer is cached for minutes, so an expiry that has passed since is kept here, to the
 * second. A request without an authorizer's answer is refused: a route that forgot its authorizer fails closed.
 */
export const callerFrom = (authorizer: unknown, nowMs: number): Caller => {
  const { expiresAt, scopes, ...caller } = v.parse(callerSchema, authorizer);
  if (expiresAt !== '' && Number(expiresAt) * 1000 <= nowMs) throw problem('invalid_api_key');
  return { ...caller, scopes: scopes.split(' ') as Scope[] };
};
