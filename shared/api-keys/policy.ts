import type { APIGatewayAuthorizerResult } from 'aws-lambda';
import type { AuthorizerContext } from '#shared/http/caller.ts';
import { rateLimit, rateLimitPolicy, WINDOW_SECONDS } from '#shared/rate-limits/plans.ts';
import { allRoutes, type Route, scopeOf } from '#shared/routes.ts';
import type { Scope } from '#shared/scopes.ts';
import type { KeySecret } from './schema.ts';

/**
 * What the gateway keeps of a judged key: who calls, and what it says when the plan's bucket is empty, since a gateway-made answer
 * can copy a value but not compute one.
 */
type GatewayContext = AuthorizerContext & { readonly rateLimit: string; readonly rateLimitPolicy: string };

/** Whether a key with these scopes may call a row that takes a key. */
export const allows = (scopes: readonly Scope[], route: Route): boolean => {
  const scope = scopeOf(route);
  return route.access.by !== 'public' && (scope === undefined || scopes.includes(scope));
};

/**
 * The authorizer's answer for a usable key. API Gateway caches it for every method of the API, so it names every method the scopes
 * allow, not only the one that was called. `methodArn`: arn:aws:execute-api:<region>:<account>:<api>/<stage>/<METHOD>/<path>.
 */
export const policyFor = (secret: KeySecret, methodArn: string): APIGatewayAuthorizerResult => {
  const stageArn = methodArn.split('/').slice(0, 2).join('/');
  const context: GatewayContext = {
    sellerId: secret.seller_id,
    keyId: secret.key_id,
    plan: secret.plan,
    scopes: secret.scopes.join(' '),
    expiresAt: secret.expires_at === undefined ? '' : String(secret.expires_at),
    rateLimit: rateLimit(secret.plan, 0, WINDOW_SECONDS),
    rateLimitPolicy: rateLimitPolicy(secret.plan),
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
          Resource: allRoutes
            .filter((route) => allows(secret.scopes, route))
            .map((route) => `${stageArn}/${route.method}${route.path}`),
        },
      ],
    },
  };
};
