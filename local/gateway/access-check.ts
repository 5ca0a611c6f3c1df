import type { APIGatewayAuthorizerResult } from 'aws-lambda';
import type { Headers } from '#shared/http/responses.ts';
import { errorFields, logEvent } from '#shared/log.ts';
import type { ProblemCode } from '#shared/problems.ts';
import { WINDOW_SECONDS } from '#shared/rate-limits/plans.ts';
import type { AuthorizerCache } from './authorizer-cache.ts';
import type { Firewall } from './firewall.ts';
import { allowsInvoke } from './policy-evaluation.ts';
import { type AuthorizerContext, methodArn } from './proxy-event.ts';
import { headerOf, type ReceivedRequest } from './received-request.ts';
import type { RouteMatch } from './router.ts';
import type { Throttle, TokenBuckets } from './token-buckets.ts';

/** A refusal that the gateway makes itself. */
export interface Refusal {
  readonly code: ProblemCode;
  readonly headers?: Headers;
}

/** The result of the checks before the function. A row without a key has no authorizer context. */
export type AccessCheck = { readonly context: AuthorizerContext | undefined } | { readonly refusal: Refusal };

/** The part of the usage plans that requests use: see usage-plans/store.ts. */
export interface UsagePlanKeys {
  /** Returns the throttle of the key's plan; undefined if the usage id is unknown, disabled or in no plan. */
  throttleOf(usageId: string): Throttle | undefined;
  recordUse(usageId: string): void;
}

/** The dependencies of the access check. */
export interface AccessCheckDeps {
  /** Runs the authorizer function for a request. */
  readonly authorize: (request: ReceivedRequest, match: RouteMatch) => Promise<APIGatewayAuthorizerResult>;
  readonly cache: AuthorizerCache;
  readonly usagePlans: UsagePlanKeys;
  readonly buckets: TokenBuckets;
  readonly firewall: Firewall;
}

/** The only error of an authorizer for which API Gateway returns 401. */
const UNAUTHORIZED = 'Unauthorized';

/** The gateway cannot compute the time until the next token; one window is always enough. Gateway responses on AWS say the same. */
const THROTTLED: Headers = { 'Retry-After': String(WINDOW_SECONDS) };

/** The gateway response AUTHORIZER_FAILURE on AWS says the same. */
const AUTHORIZER_FAILED: Refusal = { code: 'service_unavailable', headers: { 'Retry-After': '5' } };

/**
 * Checks a request that needs a key, in the order of API Gateway: key present, decision of the authorizer, policy allows the method,
 * usage id in a plan, token left in the bucket of the plan.
 */
export const checkKey = async (
  request: ReceivedRequest,
  match: RouteMatch,
  deps: AccessCheckDeps,
): Promise<AccessCheck> => {
  const key = headerOf(request, 'x-api-key') ?? '';
  if (key === '') return refused('invalid_api_key');
  const decision = await decide(request, match, { ...deps, key });
  if ('refusal' in decision) return decision;
  if (!allowsInvoke(decision.policyDocument, methodArn(request.method, request.path))) {
    return refused('insufficient_scope');
  }
  const usageId = decision.usageIdentifierKey ?? '';
  const throttle = deps.usagePlans.throttleOf(usageId);
  if (throttle === undefined) return refused('invalid_api_key');
  const context = contextOf(decision);
  if (!deps.buckets.consume(usageId, throttle)) {
    return refused('rate_limit_exceeded', {
      ...THROTTLED,
      RateLimit: context.rateLimit ?? '',
      'RateLimit-Policy': context.rateLimitPolicy ?? '',
    });
  }
  deps.usagePlans.recordUse(usageId);
  return { context };
};

/** Checks a request without a key: where the one-time-code operations are public, the firewall limits the client's address. */
export const checkAddress = (
  { sourceIp }: Pick<ReceivedRequest, 'sourceIp'>,
  { firewall }: Pick<AccessCheckDeps, 'firewall'>,
): AccessCheck =>
  firewall.allows(sourceIp) ? { context: undefined } : refused('rate_limit_exceeded', THROTTLED);

/** The decision of the authorizer, from the cache or made now; a refusal if it threw. */
const decide = async (
  request: ReceivedRequest,
  match: RouteMatch,
  { cache, authorize, key }: AccessCheckDeps & { readonly key: string },
): Promise<APIGatewayAuthorizerResult | { readonly refusal: Refusal }> => {
  try {
    return await cache.getOrAuthorize(key, () => authorize(request, match));
  } catch (error) {
    if (error instanceof Error && error.message === UNAUTHORIZED) return refused('invalid_api_key');
    logEvent('request_failed', {
      request_id: request.extendedRequestId,
      operation: 'authorizer',
      ...errorFields(error),
    });
    return { refusal: AUTHORIZER_FAILED };
  }
};

const refused = (code: ProblemCode, headers: Headers = {}): { readonly refusal: Refusal } => ({
  refusal: { code, headers },
});

/** The context as functions receive it, with the two fields that API Gateway adds. Every value is a string. */
const contextOf = ({ context = {}, principalId }: APIGatewayAuthorizerResult): AuthorizerContext => ({
  ...Object.fromEntries(Object.entries(context ?? {}).map(([name, value]) => [name, String(value)])),
  principalId,
  integrationLatency: '0',
});
