import type { APIGatewayAuthorizerResult } from 'aws-lambda';
import * as v from 'valibot';
import { DAY_SECONDS, MINUTE_SECONDS } from '#shared/clock.ts';
import { problem } from '#shared/problems.ts';
import { planItem, rateLimitHeaders } from '#shared/rate-limits/headers.ts';
import { limitOverridesSchema } from '#shared/rate-limits/key-limits.ts';
import type { PlanName } from '#shared/rate-limits/plans.ts';
import { type Route, scopeOf } from '#shared/route.ts';
import type { Scope } from '#shared/scopes.ts';
import type { KeySecret } from './api-key-item.ts';
import { loggedKnownValues } from './known-values.ts';

/** How long API Gateway keeps the authorizer's decision on a key, unless it is flushed. */
export const DECISION_CACHE_SECONDS = 300;

/** API Gateway turns every value of the authorizer's context into a string. */
const callerSchema = v.object({
  sellerId: v.string(),
  keyId: v.string(),
  plan: v.string(),
  /** Separated by a comma and a space, as the gateway shows them. Decisions of an earlier version are cached, with spaces alone. */
  scopes: v.pipe(
    v.string(),
    v.transform((scopes) => scopes.split(/[, ]+/).filter(Boolean)),
  ),
  /** Epoch seconds; empty if the key does not expire. AWS does not document whether an empty value is passed on. */
  expiresAt: v.optional(v.string(), ''),
  /** JSON. */
  limits: v.optional(v.pipe(v.string(), v.parseJson(), limitOverridesSchema), '{}'),
  /** The number of the secret of the request: a decision is cached for minutes, and a secret that has ended must not rotate its key. */
  secretNumber: v.optional(v.pipe(v.string(), v.transform(Number)), '0'),
});

export interface Caller
  extends Readonly<Omit<v.InferOutput<typeof callerSchema>, 'scopes' | 'plan' | 'expiresAt'>> {
  readonly scopes: readonly Scope[];
  readonly plan: PlanName;
  /** When the secret of the request expires, epoch seconds; undefined if it does not. */
  readonly expiresAt: number | undefined;
  /** Whether the identity registry is the sandbox; only of a row that knows the registries. */
  readonly registryIsSandbox?: boolean;
}

export type AuthorizerContext = v.InferInput<typeof callerSchema>;

/** Throws `invalid_api_key` if the key has expired: the decision is cached for minutes. Throws without an authorizer context. */
export const callerFrom = (authorizer: unknown, nowMs: number): Caller => {
  const context = v.parse(callerSchema, authorizer);
  const expiresAt = context.expiresAt === '' ? undefined : Number(context.expiresAt);
  if (expiresAt !== undefined && expiresAt * 1000 <= nowMs) throw problem('invalid_api_key');
  const { keyId: key_id, scopes, plan } = context;
  return { ...context, ...loggedKnownValues({ key_id, scopes, plan }), expiresAt };
};

/** Within this many days before its end, each counted response says when the key ends. */
export const EXPIRY_NOTICE_DAYS = 14;

/** Returns when the secret of the request expires (epoch seconds) if that is soon, or undefined. */
export const soonExpiry = ({ expiresAt }: Pick<Caller, 'expiresAt'>, nowMs: number): number | undefined =>
  expiresAt !== undefined && expiresAt * 1000 - nowMs <= EXPIRY_NOTICE_DAYS * DAY_SECONDS * 1000
    ? expiresAt
    : undefined;

export const allows = (scopes: readonly Scope[], route: Pick<Route, 'access'>): boolean => {
  const scope = scopeOf(route);
  return route.access.by !== 'public' && (scope === undefined || scopes.includes(scope));
};

/**
 * API Gateway caches the policy for every method and path, so it covers every row that the scopes allow, with `*` for a path parameter.
 * It also routes `/v1/users/` to `/v1/users`, and then asks for the path with the slash.
 * `methodArn`: arn:aws:execute-api:<region>:<account>:<api>/<stage>/<METHOD>/<path>.
 */
export const policyFor = (
  secret: KeySecret,
  methodArn: string,
  rows: readonly Pick<Route, 'method' | 'path' | 'access'>[],
): APIGatewayAuthorizerResult => {
  const stageArn = methodArn.split('/').slice(0, 2).join('/');
  const throttled = rateLimitHeaders([planItem(secret.plan, 0, MINUTE_SECONDS)]);
  // With the headers for a request that the usage plan throttles: a gateway response cannot compute them.
  const context: AuthorizerContext & { readonly rateLimit: string; readonly rateLimitPolicy: string } = {
    sellerId: secret.seller_id,
    keyId: secret.key_id,
    plan: secret.plan,
    scopes: secret.scopes.join(', '),
    expiresAt: secret.expires_at === undefined ? '' : String(secret.expires_at),
    limits: JSON.stringify(secret.limits ?? {}),
    secretNumber: String(secret.number),
    rateLimit: throttled.RateLimit ?? '',
    rateLimitPolicy: throttled['RateLimit-Policy'] ?? '',
  };
  return {
    principalId: secret.key_id,
    usageIdentifierKey: secret.usage_id,
    context,
    policyDocument: {
      Version: '2012-10-17',
      Statement: [
        {
          Effect: 'Allow',
          Action: 'execute-api:Invoke',
          Resource: rows
            .filter((route) => allows(secret.scopes, route))
            .map((route) => `${stageArn}/${route.method}${route.path.replace(/\{[^}]+\}/g, '*')}`)
            .flatMap((arn) => [arn, `${arn}/`]),
        },
      ],
    },
  };
};
