import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { Clock } from '#shared/clock.ts';
import type { OtpAccess } from '#shared/env.ts';
import { type Admission, admit } from '#shared/rate-limits/plan-limit.ts';
import type { RateLimiter } from '#shared/rate-limits/rate-limiter.ts';
import { type Route, requiresKey } from '#shared/routes.ts';
import { type Caller, callerFrom } from './caller.ts';
import { requestIdOf } from './event.ts';

/** What every endpoint needs besides its own dependencies. A row without a key needs no rateLimiter. */
export interface EndpointDeps {
  readonly clock: Clock;
  readonly rateLimiter?: Pick<RateLimiter, 'count'>;
  readonly otpAccess?: OtpAccess;
}

/** What is known of a request from its first line to its last. */
export interface RequestScope {
  readonly operation: string;
  readonly path: string;
  readonly requestId: string;
  readonly clock: Clock;
  readonly startedAtMs: number;
  /** Undefined on a row that takes no key, and until the caller is known. */
  caller?: Caller;
  admission?: Admission;
}

/** The scope of a request of which nothing but the event is known. */
export const openScope = ({ name }: Route, event: APIGatewayProxyEvent, clock: Clock): RequestScope => ({
  operation: name,
  path: event.path,
  requestId: requestIdOf(event),
  clock,
  startedAtMs: clock(),
});

/** Finds out who calls, and begins to count the request, so that the rateLimiter's write runs beside all reads. */
export const admitCaller = (
  scope: RequestScope,
  route: Route,
  event: APIGatewayProxyEvent,
  { rateLimiter, otpAccess = 'api-key' }: EndpointDeps,
): void => {
  if (!requiresKey(route, otpAccess)) return;
  if (rateLimiter === undefined) throw new Error('a row with a key needs a rateLimiter');
  const { requestId, operation, startedAtMs } = scope;
  scope.caller = callerFrom(event.requestContext.authorizer, startedAtMs);
  scope.admission = admit(rateLimiter, scope.caller, startedAtMs, { requestId, operation });
};
