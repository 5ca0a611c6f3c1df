import type { APIGatewayAuthorizerResult } from 'aws-lambda';
import type { Headers } from '#shared/http/responses.ts';
import type { ProblemCode } from '#shared/problems.ts';
import { type PlanName, WINDOW_SECONDS } from '#shared/rate-limits/plans.ts';
import type { AuthorizerCache } from './authorizer-cache.ts';
import { allowsInvoke } from './policy-evaluation.ts';
import { type AuthorizerContext, methodArn } from './proxy-event.ts';
import { headerOf, type ReceivedRequest } from './received-request.ts';
import type { RouteMatch } from './router.ts';
import type { Throttle, TokenBuckets } from './token-buckets.ts';

/** A refusal that the gateway makes by itself. */
export interface Refusal {
  readonly code: ProblemCode;
  readonly headers?: Headers;
}

export type Admission = { readonly context: AuthorizerContext } | { readonly refusal: Refusal };

/** The usage plans, as far as a request meets them: see control-plane.ts. */
export interface UsagePlanKeys {
  /** Undefined if the usage id is unknown, disabled or in no plan. */
  planOf(usageId: string): (Throttle & { readonly plan: PlanName }) | undefined;
  recordUse(usageId: string): void;
}

export interface AdmissionDeps {
  /** Runs the authorizer function for a request. */
  readonly authorize: (request: ReceivedRequest, match: RouteMatch) => Promise<APIGatewayAuthorizerResult>;
  readonly cache: AuthorizerCache;
  readonly usagePlanKeys: UsagePlanKeys;
  readonly buckets: TokenBuckets;
}

/** What API Gateway maps to 401, and nothing else that an authorizer throws. */
const UNAUTHORIZED = 'Unauthorized';

/** A gateway-made answer cannot compute how long until a token is there; a whole window is always enough. */
const THROTTLED_RETRY_AFTER = String(WINDOW_SECONDS);

/**
 * Judges a request that needs a key, in API Gateway's order: is there a key, what does the authorizer say of it, does its policy
 * allow this method, is its usage id in a plan, has the plan's bucket a token left.
 */
export const admitByKey = async (
  request: ReceivedRequest,
  match: RouteMatch,
  { authorize, cache, usagePlanKeys, buckets }: AdmissionDeps,
): Promise<Admission> => {
  const key = headerOf(request, 'x-api-key') ?? '';
  if (key === '') return refused('invalid_api_key');
  const judged = await cache.getOrAuthorize(key, () => authorize(request, match)).catch(unauthorizedOrThrow);
  if (judged === UNAUTHORIZED) return refused('invalid_api_key');
  if (!allowsInvoke(judged.policyDocument, methodArn(request.method, request.path))) {
    return refused('insufficient_scope');
  }
  const usageId = judged.usageIdentifierKey ?? '';
  const plan = usagePlanKeys.planOf(usageId);
  if (plan === undefined) return refused('invalid_api_key');
  const context = contextOf(judged);
  if (!buckets.take(usageId, plan)) {
    return refused('rate_limit_exceeded', {
      'Retry-After': THROTTLED_RETRY_AFTER,
      RateLimit: context.rateLimit ?? '',
      'RateLimit-Policy': context.rateLimitPolicy ?? '',
    });
  }
  usagePlanKeys.recordUse(usageId);
  return { context };
};

/** What stands in for the plan where a row takes no key though its kind could: so many requests a minute from one address. */
const ADDRESS_REQUESTS_PER_MINUTE = 100;
const ADDRESS_THROTTLE: Throttle = {
  rateLimit: ADDRESS_REQUESTS_PER_MINUTE / WINDOW_SECONDS,
  burstLimit: ADDRESS_REQUESTS_PER_MINUTE,
};

/** Judges a request without a key by the address it comes from. */
export const admitByAddress = (
  { sourceIp }: Pick<ReceivedRequest, 'sourceIp'>,
  buckets: TokenBuckets,
): Refusal | undefined => {
  if (buckets.take(`address ${sourceIp}`, ADDRESS_THROTTLE)) return undefined;
  return {
    code: 'rate_limit_exceeded',
    headers: {
      'Retry-After': THROTTLED_RETRY_AFTER,
      RateLimit: `"address";r=0;t=${WINDOW_SECONDS}`,
      'RateLimit-Policy': `"address";q=${ADDRESS_REQUESTS_PER_MINUTE};w=${WINDOW_SECONDS}`,
    },
  };
};

const refused = (code: ProblemCode, headers: Headers = {}): Admission => ({ refusal: { code, headers } });

const unauthorizedOrThrow = (error: unknown): typeof UNAUTHORIZED => {
  if (error instanceof Error && error.message === UNAUTHORIZED) return UNAUTHORIZED;
  throw error;
};

/** The context as functions are told it, with what API Gateway adds. Only flat values may stand in it. */
const contextOf = ({ context = {}, principalId }: APIGatewayAuthorizerResult): AuthorizerContext => ({
  ...Object.fromEntries(Object.entries(context ?? {}).map(([name, value]) => [name, String(value)])),
  principalId,
  integrationLatency: '0',
});
