import type {
  APIGatewayAuthorizerResult,
  APIGatewayRequestAuthorizerEvent,
  PolicyDocument,
} from 'aws-lambda';
import { DECISION_CACHE_SECONDS } from '#shared/api-keys/caller.ts';
import { type Clock, MINUTE_SECONDS } from '#shared/clock.ts';
import type { OtpAccess } from '#shared/env.ts';
import { headerOf } from '#shared/http/request.ts';
import type { Headers } from '#shared/http/responses.ts';
import { errorFields, logEvent } from '#shared/log.ts';
import { insufficientScopeDetail, type ProblemCode, SERVICE_RETRY_AFTER_SECONDS } from '#shared/problems.ts';
import { requiresKey } from '#shared/route.ts';
import { type Functions, invoke } from './functions.ts';
import { type AuthorizerContext, authorizerEvent, type ReceivedRequest } from './proxy-event.ts';
import type { RouteMatch } from './router.ts';
import type { Throttle, TokenBuckets } from './token-buckets.ts';

/** A refusal by the gateway itself. */
export class GatewayRefusal extends Error {
  readonly code: ProblemCode;
  readonly headers: Headers;
  /** In place of the detail of the code. */
  readonly detail: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: ProblemCode,
    options: { headers?: Headers; detail?: string; retryAfterSeconds?: number } = {},
  ) {
    super(code);
    this.code = code;
    this.headers = options.headers ?? {};
    this.detail = options.detail;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** What the gateway asks of the usage plans. */
export interface GatewayPlans {
  /** Returns how often the authorizer cache was flushed. */
  flushes(): Promise<number>;
  /** Returns the throttle of the key's plan; undefined if the usage id is unknown, disabled or in no plan: API Gateway returns 403 then. */
  throttleOf(usageId: string): Promise<Throttle | undefined>;
}

export interface AccessOptions {
  readonly functions: Pick<Functions, 'authorizer'>;
  readonly usagePlans: GatewayPlans;
  readonly otpAccess: OtpAccess;
  /** Of keys by usage id, and of addresses. */
  readonly buckets: TokenBuckets;
  readonly clock: Clock;
}

/** A decision of the authorizer, and the throttle of the key's plan: the cache is flushed when that changes. */
interface Decision extends APIGatewayAuthorizerResult {
  readonly throttle: Throttle | undefined;
  /** How often the cache was flushed before it. */
  readonly flushes: number;
  readonly untilMs: number;
}

/** The time limit is the one that lib/api-stack.ts deploys. */
const AUTHORIZER = { name: 'authorizer', timeoutSeconds: 5 } as const;

/** In place of the firewall of a stage whose one-time-code operations are public: 100 requests of an address in five minutes. */
const PER_ADDRESS: Throttle = { burstLimit: 100, rateLimit: 100 / 300 };

/** The gateway cannot compute the time until the next token; one window is always enough. Gateway responses on AWS say the same. */
const THROTTLED = { retryAfterSeconds: MINUTE_SECONDS };

/**
 * Returns what decides before a function is called: on the key where the row needs one; else, where the one-time-code operations are public, on
 * the client's address. It resolves with the authorizer's context, undefined without a key, or throws a GatewayRefusal.
 */
export const accessControl = ({ functions, usagePlans, otpAccess, buckets, clock }: AccessOptions) => {
  /** By API key. */
  const cache = new Map<string, Decision>();

  const decide = async (key: string, event: APIGatewayRequestAuthorizerEvent): Promise<Decision> => {
    const flushes = await usagePlans.flushes();
    const cached = cache.get(key);
    if (cached && cached.flushes >= flushes && cached.untilMs > clock()) return cached;
    const result = await invoke(AUTHORIZER, functions.authorizer, event);
    const throttle = await usagePlans.throttleOf(result.usageIdentifierKey ?? '');
    const decision = { ...result, throttle, flushes, untilMs: clock() + DECISION_CACHE_SECONDS * 1000 };
    if (throttle !== undefined) cache.set(key, decision);
    return decision;
  };

  /** In the order of API Gateway: key present, authorizer's decision, policy, usage id in a plan, token in the plan's bucket. */
  const checkKey = async (request: ReceivedRequest, match: RouteMatch): Promise<AuthorizerContext> => {
    const event = authorizerEvent(request, match);
    const key = headerOf(event, 'x-api-key') ?? '';
    if (key === '') throw new GatewayRefusal('invalid_api_key');
    const decision = await decide(key, event).catch((error) => refuseUnauthorized(request, error));
    const context = contextOf(decision);
    if (!allowsInvoke(decision.policyDocument, event.methodArn)) {
      const { scopes = '' } = context;
      const detail = insufficientScopeDetail({ method: request.method, path: match.route.path, scopes });
      throw new GatewayRefusal('insufficient_scope', { detail });
    }
    const usageId = decision.usageIdentifierKey ?? '';
    if (decision.throttle === undefined) throw new GatewayRefusal('invalid_api_key');
    if (!buckets.consume(usageId, decision.throttle)) {
      const { rateLimit = '', rateLimitPolicy = '' } = context;
      const headers = { RateLimit: rateLimit, 'RateLimit-Policy': rateLimitPolicy };
      throw new GatewayRefusal('rate_limit_exceeded', { ...THROTTLED, headers });
    }
    return context;
  };

  return async (request: ReceivedRequest, match: RouteMatch): Promise<AuthorizerContext | undefined> => {
    if (requiresKey(match.route, otpAccess)) return checkKey(request, match);
    if (match.route.access.by === 'public' || buckets.consume(request.sourceIp, PER_ADDRESS))
      return undefined;
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
  throw new GatewayRefusal('service_unavailable', { retryAfterSeconds: SERVICE_RETRY_AFTER_SECONDS });
};

/** The parts of a statement that the authorizer uses: it denies nothing. */
interface Statement {
  readonly Effect: string;
  readonly Resource: string | readonly string[];
}

/** Without an allow a method is denied. `*` stands for any characters, also slashes. */
const allowsInvoke = ({ Statement: statements }: PolicyDocument, methodArn: string): boolean =>
  (statements as readonly Statement[])
    .flatMap(({ Effect, Resource }) => (Effect === 'Allow' ? Resource : []))
    .some((pattern) => new RegExp(`^${RegExp.escape(pattern).replaceAll('\\*', '.*')}$`).test(methodArn));

/** The context as functions receive it, with the two fields that API Gateway adds. Every value is a string. */
const contextOf = ({ context, principalId }: APIGatewayAuthorizerResult): AuthorizerContext => ({
  ...Object.fromEntries(Object.entries(context ?? {}).map(([name, value]) => [name, String(value)])),
  principalId,
  integrationLatency: '0',
});
