import type { APIGatewayAuthorizerResult } from 'aws-lambda';
import * as v from 'valibot';
import { problem } from '#shared/problems.ts';
import {
  limitOverridesSchema,
  PLAN_NAMES,
  planItem,
  rateLimitHeaders,
  WINDOW_SECONDS,
} from '#shared/rate-limits/plans.ts';
import { type Route, scopeOf } from '#shared/route.ts';
import type { Scope } from '#shared/scopes.ts';
import type { KeySecret } from './api-key-item.ts';

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
  /** The number of the secret of the request: a decision is cached for minutes, and a secret that has ended must not rotate its key. */
  secretNumber: v.optional(v.pipe(v.string(), v.transform(Number)), '0'),
});

/** Who makes a request. */
export interface Caller extends Readonly<Omit<v.InferOutput<typeof callerSchema>, 'expiresAt'>> {
  /** When the secret of the request expires, epoch seconds; undefined if it does not. */
  readonly expiresAt: number | undefined;
}

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

/**
 * The context that API Gateway caches with the decision: the caller, and the rate-limit headers of a request that the usage plan
 * throttles, since a gateway response can copy a value but not compute one.
 */
type GatewayContext = AuthorizerContext & { readonly rateLimit: string; readonly rateLimitPolicy: string };

export const allows = (scopes: readonly Scope[], route: Route): boolean => {
  const scope = scopeOf(route);
  return route.access.by !== 'public' && (scope === undefined || scopes.includes(scope));
};

/** The path of a row in a policy: a path parameter becomes `*`, so that one policy covers every resource. */
const policyPath = (path: string): string => path.replace(/\{[^}]+\}/g, '*');

/**
 * The authorizer's result for a valid key. API Gateway caches it for every method of the API, so it covers every method of `rows`
 * that the scopes allow. `methodArn`: arn:aws:execute-api:<region>:<account>:<api>/<stage>/<METHOD>/<path>.
 */
export const policyFor = (
  secret: KeySecret,
  methodArn: string,
  rows: readonly Route[],
): APIGatewayAuthorizerResult => {
  const stageArn = methodArn.split('/').slice(0, 2).join('/');
  const throttled = rateLimitHeaders([planItem(secret.plan, 0, WINDOW_SECONDS)]);
  const context: GatewayContext = {
    sellerId: secret.seller_id,
    keyId: secret.key_id,
    plan: secret.plan,
    scopes: secret.scopes.join(' '),
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
            .map((route) => `${stageArn}/${route.method}${policyPath(route.path)}`),
        },
      ],
    },
  };
};
