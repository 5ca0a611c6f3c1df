import * as v from 'valibot';
import { problem } from '#shared/problems.ts';
import { limitOverridesSchema, PLAN_NAMES } from '#shared/rate-limits/plans.ts';
import type { Scope } from '#shared/scopes.ts';

/** The authorizer's context as API Gateway passes it on with the request. API Gateway turns every value into a string. */
const callerSchema = v.object({
  sellerId: v.string(),
  keyId: v.string(),
  plan: v.picklist(PLAN_NAMES),
  /** Space-separated. */
  scopes: v.pipe(
    v.string(),
    v.transform((scopes): readonly Scope[] => scopes.split(' ').filter(Boolean) as Scope[]),
  ),
  /** Epoch seconds; empty if the key does not expire. AWS does not document whether an empty value is passed on. */
  expiresAt: v.optional(v.string(), ''),
  /** JSON: the overrides of the key's hourly and daily limits. */
  limits: v.optional(v.pipe(v.string(), v.parseJson(), limitOverridesSchema), '{}'),
});

/** Who makes a request. */
export interface Caller extends Readonly<Omit<v.InferOutput<typeof callerSchema>, 'expiresAt'>> {
  /** When the secret of the request expires, epoch seconds; undefined if it does not. */
  readonly expiresAt: number | undefined;
}

/** The authorizer's context as the authorizer writes it. */
export type AuthorizerContext = v.InferInput<typeof callerSchema>;

/**
 * The caller of a request. Throws `invalid_api_key` if the key has expired: the authorizer's result is cached for minutes, and an
 * expiry is enforced to the second. Throws if there is no authorizer context, so that a method without its authorizer fails closed.
 */
export const callerFrom = (authorizer: unknown, nowMs: number): Caller => {
  const context = v.parse(callerSchema, authorizer);
  const expiresAt = context.expiresAt === '' ? undefined : Number(context.expiresAt);
  if (expiresAt !== undefined && expiresAt * 1000 <= nowMs) throw problem('invalid_api_key');
  return { ...context, expiresAt };
};
