import type { APIGatewayAuthorizerResult } from 'aws-lambda';
import type { Clock } from '#shared/clock.ts';
import type { OtpAccess } from '#shared/env.ts';
import type { Headers } from '#shared/http/responses.ts';
import { errorFields, logEvent } from '#shared/log.ts';
import { type ProblemCode, SERVICE_RETRY_AFTER_SECONDS } from '#shared/problems.ts';
import { WINDOW_SECONDS } from '#shared/rate-limits/plans.ts';
import { requiresKey } from '#shared/route.ts';
import type { GatewayPlans } from '../usage-plans.ts';
import { authorizerCache } from './authorizer-cache.ts';
import { type Functions, invoke } from './functions.ts';
import { allowsInvoke } from './policy-evaluation.ts';
import { type AuthorizerContext, authorizerEvent, methodArn } from './proxy-event.ts';
import { headerOf, type ReceivedRequest } from './received-request.ts';
import type { RouteMatch } from './router.ts';
import type { GatewayCounts } from './throttles.ts';

/** A refusal by the gateway itself. */
export class GatewayRefusal extends Error {
  readonly code: ProblemCode;
  readonly headers: Headers;

  constructor(code: ProblemCode, headers: Headers = {}) {
    super(code);
    this.code = code;
    this.headers = headers;
  }
}

/** The dependencies of the access check. */
export interface AccessOptions {
  readonly functions: Pick<Functions, 'authorizer'>;
  readonly usagePlans: GatewayPlans;
  readonly otpAccess: OtpAccess;
  readonly counts: GatewayCounts;
  readonly clock: Clock;
}

/** The time limit of the authorizer's function, as lib/api-stack.ts deploys it. */
const AUTHORIZER_SECONDS = 5;

/** The gateway cannot compute the time until the next token; one window is always enough. Gateway responses on AWS say the same. */
const THROTTLED: Headers = { 'Retry-After': String(WINDOW_SECONDS) };

/**
 * Returns the check before a function: of the key where the row needs one; else, where the one-time-code operations are public, of the
 * client's address. It resolves with the authorizer's context, undefined without a key, or throws a GatewayRefusal.
 */
export const accessCheck = ({ functions, usagePlans, otpAccess, counts, clock }: AccessOptions) => {
  const cache = authorizerCache(clock);

  const authorize = (request: ReceivedRequest, match: RouteMatch) =>
    invoke('authorizer', functions.authorizer, authorizerEvent(request, match), AUTHORIZER_SECONDS);

  /** In the order of API Gateway: key present, authorizer's decision, policy, usage id in a plan, token in the plan's bucket. */
  const checkKey = async (request: ReceivedRequest, match: RouteMatch): Promise<AuthorizerContext> => {
    const key = headerOf(request, 'x-api-key') ?? '';
    if (key === '') throw new GatewayRefusal('invalid_api_key');
    const refuse = (error: unknown) => refuseUnauthorized(request, error);
    const flushes = await usagePlans.flushes().catch(refuse);
    const decision = await cache.getOrAuthorize(key, flushes, () => authorize(request, match)).catch(refuse);
    const context = contextOf(decision);
    if (!allowsInvoke(decision.policyDocument, methodArn(request.method, request.path))) {
      throw new GatewayRefusal('insufficient_scope');
    }
    const usageId = decision.usageIdentifierKey ?? '';
    const throttle = await usagePlans.throttleOf(usageId).catch(refuse);
    if (throttle === undefined) throw new GatewayRefusal('invalid_api_key');
    if (!counts.buckets.consume(usageId, throttle)) {
      const { rateLimit = '', rateLimitPolicy = '' } = context;
      const headers = { ...THROTTLED, RateLimit: rateLimit, 'RateLimit-Policy': rateLimitPolicy };
      throw new GatewayRefusal('rate_limit_exceeded', headers);
    }
    // No request waits for its count.
    void usagePlans.recordUse(usageId);
    return context;
  };

  return async (request: ReceivedRequest, match: RouteMatch): Promise<AuthorizerContext | undefined> => {
    if (requiresKey(match.route, otpAccess)) return checkKey(request, match);
    if (match.route.access.by === 'public' || counts.firewall.allows(request.sourceIp)) return undefined;
    throw new GatewayRefusal('rate_limit_exceeded', THROTTLED);
  };
};

/** API Gateway returns 401 for one error of an authorizer only. The gateway response AUTHORIZER_FAILURE on AWS is as the one here. */
const refuseUnauthorized = ({ extendedRequestId }: ReceivedRequest, error: unknown): never => {
  if (error instanceof Error && error.message === 'Unauthorized') throw new GatewayRefusal('invalid_api_key');
  logEvent('request_failed', {
    request_id: extendedRequestId,
    operation: 'authorizer',
    ...errorFields(error),
  });
  throw new GatewayRefusal('service_unavailable', { 'Retry-After': String(SERVICE_RETRY_AFTER_SECONDS) });
};

/** The context as functions receive it, with the two fields that API Gateway adds. Every value is a string. */
const contextOf = ({ context, principalId }: APIGatewayAuthorizerResult): AuthorizerContext => ({
  ...Object.fromEntries(Object.entries(context ?? {}).map(([name, value]) => [name, String(value)])),
  principalId,
  integrationLatency: '0',
});
