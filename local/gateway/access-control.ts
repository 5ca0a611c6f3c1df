import type {
  APIGatewayAuthorizerResult,
  APIGatewayRequestAuthorizerEvent,
  PolicyDocument,
} from 'aws-lambda';
import { authorizer } from '#shared/api-keys/authorizer.ts';
import { DECISION_CACHE_SECONDS } from '#shared/api-keys/caller.ts';
import type { Clock } from '#shared/clock.ts';
import type { OtpAccess } from '#shared/env.ts';
import { headerOf } from '#shared/http/request.ts';
import { errorFields, logEvent } from '#shared/log.ts';
import { insufficientScopeDetail, type ProblemCode, SERVICE_RETRY_AFTER_SECONDS } from '#shared/problems.ts';
import { requiresKey } from '#shared/route.ts';
import { type Functions, invoke } from './functions.ts';
import { type AuthorizerContext, authorizerEvent, type ReceivedRequest } from './proxy-event.ts';
import type { RouteMatch } from './router.ts';

/** A refusal by the gateway itself. */
export class GatewayRefusal extends Error {
  readonly code: ProblemCode;
  /** In place of the detail of the code. */
  readonly detail: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: ProblemCode,
    options: { readonly detail?: string; readonly retryAfterSeconds?: number } = {},
  ) {
    super(code);
    this.code = code;
    this.detail = options.detail;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

export interface AccessOptions {
  readonly functions: Pick<Functions, 'authorizer'>;
  /** Returns how often the authorizer cache was flushed. */
  readonly flushes: () => Promise<number>;
  readonly otpAccess: OtpAccess;
  readonly clock: Clock;
}

/** A decision of the authorizer. */
interface Decision extends APIGatewayAuthorizerResult {
  /** How often the cache was flushed before it. */
  readonly flushes: number;
  readonly untilMs: number;
}

/**
 * Returns what decides on the key before a function is called, where the row needs one. It resolves with the authorizer's context, undefined
 * without a key, or throws a GatewayRefusal. No usage plan limits a key here: the service's own limiter does.
 */
export const accessControl = ({ functions, flushes: readFlushes, otpAccess, clock }: AccessOptions) => {
  /** By API key. */
  const cache = new Map<string, Decision>();

  const decide = async (key: string, event: APIGatewayRequestAuthorizerEvent): Promise<Decision> => {
    const flushes = await readFlushes();
    const cached = cache.get(key);
    if (cached && cached.flushes >= flushes && cached.untilMs > clock()) return cached;
    const result = await invoke(authorizer, functions.authorizer, event);
    const decision = { ...result, flushes, untilMs: clock() + DECISION_CACHE_SECONDS * 1000 };
    cache.set(key, decision);
    return decision;
  };

  /** In the order of API Gateway: key present, authorizer's decision, policy. */
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
    return context;
  };

  return async (request: ReceivedRequest, match: RouteMatch): Promise<AuthorizerContext | undefined> =>
    requiresKey(match.route, otpAccess) ? checkKey(request, match) : undefined;
};

/** API Gateway returns 401 for one error of an authorizer only. The gateway response AUTHORIZER_FAILURE on AWS is as the one here. */
const refuseUnauthorized = ({ extendedRequestId }: ReceivedRequest, error: unknown): never => {
  if (error instanceof Error && error.message === 'Unauthorized') throw new GatewayRefusal('invalid_api_key');
  logEvent('request_failed', {
    request_id: extendedRequestId,
    operation: authorizer.name,
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
