import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { Clock } from '#shared/clock/port.ts';
import type { OtpAccess } from '#shared/env.ts';
import type { RequestMeter } from '#shared/request-meter/store.ts';
import { needsKey, type Route } from '#shared/routes.ts';
import { type Admission, admit } from './admission.ts';
import { type Caller, callerFrom } from './caller.ts';
import { requestIdOf } from './event.ts';

/** What every endpoint needs besides its own dependencies. A row without a key needs no meter. */
export interface EndpointDeps {
  readonly clock: Clock;
  readonly meter?: Pick<RequestMeter, 'count'>;
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

/** Finds out who calls, and begins to count the request, so that the meter's write runs beside all reads. */
export const admitCaller = (
  scope: RequestScope,
  route: Route,
  event: APIGatewayProxyEvent,
  { meter, otpAccess = 'api-key' }: EndpointDeps,
): void => {
  if (!needsKey(route, otpAccess)) return;
  if (meter === undefined) throw new Error('a row with a key needs a meter');
  const { requestId, operation, startedAtMs } = scope;
  scope.caller = callerFrom(event.requestContext.authorizer, startedAtMs);
  scope.admission = admit(meter, scope.caller, startedAtMs, { requestId, operation });
};
