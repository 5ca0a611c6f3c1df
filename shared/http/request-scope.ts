import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { type Caller, callerFrom } from '#shared/api-keys/caller.ts';
import type { Clock } from '#shared/clock.ts';
import type { OtpAccess } from '#shared/env.ts';
import type { RateLimiter } from '#shared/rate-limits/rate-limiter.ts';
import { countRequest, type PlanLimit } from '#shared/rate-limits/request-limits.ts';
import { currentRequest, type RequestContext } from '#shared/request-context.ts';
import { type Route, requiresKey, type TableAction } from '#shared/route.ts';
import { requestIdOf } from './event.ts';

/** The dependencies of every endpoint besides its own. A row without a key has no rate limiter. */
export interface EndpointDeps {
  readonly clock: Clock;
  readonly rateLimiter?: Pick<RateLimiter, 'incrementAndRead'>;
  readonly otpAccess?: OtpAccess;
}

/** The state of one request. */
export interface RequestScope extends RequestContext {
  readonly path: string;
  /** By the monotonic clock, milliseconds. */
  readonly startedAtMonotonicMs: number;
  /** When the response must be ready, in milliseconds of the monotonic clock (performance.now()). */
  readonly deadlineMs: number;
  /** Undefined on a row that takes no key, and until the caller is known. */
  caller?: Caller;
  planLimit?: PlanLimit;
}

/** The state of the request that the caller works for. */
export const currentScope = (): RequestScope => currentRequest() as RequestScope;

/** Reserved from the function's timeout for the response and its log line. */
export const RESERVE_MS = 500;

/** The longest time of a request that calls no provider. A database that hangs must not keep a caller waiting. */
const MAX_MS_WITHOUT_PROVIDER = 3000;

/** The longest time of a change of users that calls no provider: the changes of one seller are written one after the other. */
const MAX_MS_OF_A_CHANGE = 10_000;

const USER_WRITES: readonly TableAction[] = ['PutItem', 'DeleteItem'];

const changesUsers = ({ table }: Route['permissions']): boolean =>
  USER_WRITES.some((action) => table?.['USERS#']?.includes(action));

const timeToDeadlineMs = (
  { permissions }: Route,
  context: Pick<Context, 'getRemainingTimeInMillis'>,
): number => {
  const leftMs = Math.max(0, context.getRemainingTimeInMillis() - RESERVE_MS);
  const callsProvider = permissions.identityRegistry === true || permissions.sms === true;
  if (callsProvider) return leftMs;
  return Math.min(leftMs, changesUsers(permissions) ? MAX_MS_OF_A_CHANGE : MAX_MS_WITHOUT_PROVIDER);
};

/** Starts a request: its id, its times and its deadline. */
export const openScope = (
  route: Route,
  event: APIGatewayProxyEvent,
  context: Pick<Context, 'getRemainingTimeInMillis'>,
): RequestScope => {
  const timeMs = timeToDeadlineMs(route, context);
  const startedAtMonotonicMs = performance.now();
  return {
    operation: route.name,
    path: event.path,
    requestId: requestIdOf(event),
    signal: AbortSignal.timeout(timeMs),
    calls: [],
    startedAtMonotonicMs,
    deadlineMs: startedAtMonotonicMs + timeMs,
  };
};

/** Identifies the caller and starts to count the request, so that the count runs beside the reads of the request. */
export const identifyCaller = (
  route: Route,
  event: APIGatewayProxyEvent,
  { clock, rateLimiter, otpAccess = 'api-key' }: EndpointDeps,
): void => {
  if (!requiresKey(route, otpAccess)) return;
  if (rateLimiter === undefined) throw new Error('a row with a key needs a rate limiter');
  const nowMs = clock();
  const scope = currentScope();
  scope.caller = callerFrom(event.requestContext.authorizer, nowMs);
  scope.planLimit = countRequest(rateLimiter, scope.caller, { nowMs, limitsToRead: route.limitsRead ?? [] });
};
