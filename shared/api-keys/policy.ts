import type { APIGatewayAuthorizerResult } from 'aws-lambda';
import { planItem, rateLimitHeaders } from '#shared/rate-limits/limits.ts';
import { WINDOW_SECONDS } from '#shared/rate-limits/plans.ts';
import { type Route, scopeOf } from '#shared/route.ts';
import type { Scope } from '#shared/scopes.ts';
import type { AuthorizerContext } from './caller.ts';
import type { KeySecret } from './schema.ts';

/**
 * The context that API Gateway caches with the decision: the caller, and the rate-limit headers of a request that the usage plan
 * throttles, since a gateway response can copy a value but not compute one.
 */
type GatewayContext = AuthorizerContext & { readonly rateLimit: string; readonly rateLimitPolicy: string };

/** Returns whether a key with these scopes may call a row that takes a key. */
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
