import type { IncomingMessage, ServerResponse } from 'node:http';
import type { APIGatewayProxyResult } from 'aws-lambda';
import type { Clock } from '#shared/clock.ts';
import type { OtpAccess } from '#shared/env.ts';
import { commonHeaders, problemResponse } from '#shared/http/responses.ts';
import { errorFields, logEvent } from '#shared/log.ts';
import { type Route, requiresKey } from '#shared/route.ts';
import { allRoutes } from '#shared/routes.ts';
import {
  type AdmissionDeps,
  admitByAddress,
  admitByKey,
  type Refusal,
  type UsagePlanKeys,
} from './gateway/admission.ts';
import { authorizerCache } from './gateway/authorizer-cache.ts';
import { type Functions, invoke } from './gateway/functions.ts';
import { type AuthorizerContext, authorizerEvent, proxyEvent } from './gateway/proxy-event.ts';
import { type ReceivedRequest, receive } from './gateway/received-request.ts';
import { respond } from './gateway/respond.ts';
import { type RouteMatch, router } from './gateway/router.ts';
import { tokenBuckets } from './gateway/token-buckets.ts';

/** One request, when it is done, as far as a terminal may show it. `route` undefined: no row of the table. */
export interface Completed {
  readonly method: string;
  readonly route: Route | undefined;
  readonly status: number;
  readonly durationMs: number;
}

export interface GatewayOptions {
  readonly functions: Functions;
  readonly usagePlanKeys: UsagePlanKeys & { onFlush(listener: () => void): void };
  readonly otpAccess: OtpAccess;
  readonly clock: Clock;
  readonly onCompleted: (completed: Completed) => void;
}

export type Gateway = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** What API Gateway gives an authorizer: its own time-out, whatever the row's. */
const AUTHORIZER = { timeoutSeconds: 10, memoryMb: 512 } as const;

/** What API Gateway does on AWS, folded from the route table: finds the row, judges the key, calls the function, answers. */
export const gateway = (options: GatewayOptions): Gateway => {
  const findRoute = router(allRoutes);
  const admit = admissionBy(options);

  const answer = async (
    request: ReceivedRequest,
    match: RouteMatch | undefined,
  ): Promise<APIGatewayProxyResult> => {
    if (match === undefined) return refuse(request, { code: 'not_found' });
    const admission = await admit(request, match);
    if ('refusal' in admission) return refuse(request, admission.refusal);
    // AWS answers 413 here. The contract's list of problems is closed, and of a body that is never read nobody knows that it is JSON.
    if (request.body === 'too_large') return refuse(request, { code: 'malformed_json' });
    return callFunction(options.functions, request, match, admission.context);
  };

  return async (incoming, response) => {
    const request = await receive(incoming).catch(() => undefined);
    // Nobody is there any more to be answered.
    if (request === undefined) return;
    const match = findRoute(request.method, request.path);
    const result = await answer(request, match).catch((error: unknown) => fail(request, match, error));
    respond(response, result);
    options.onCompleted({
      method: request.method,
      route: match?.route,
      status: result.statusCode,
      durationMs: Date.now() - request.receivedAtMs,
    });
  };
};

/** What lets a request through to its function: the caller, where the row asks for one; or a refusal. */
const admissionBy = ({ functions, usagePlanKeys, otpAccess, clock }: GatewayOptions) => {
  const cache = authorizerCache(clock);
  usagePlanKeys.onFlush(cache.flush);
  const buckets = tokenBuckets(clock);
  const deps: AdmissionDeps = {
    authorize: (request, match) =>
      invoke('authorizer', functions.authorizer, authorizerEvent(request, match), {
        requestId: request.requestId,
        ...AUTHORIZER,
      }),
    cache,
    usagePlanKeys,
    buckets,
  };
  return async (request: ReceivedRequest, match: RouteMatch) => {
    if (requiresKey(match.route, otpAccess)) return admitByKey(request, match, deps);
    const refusal = match.route.access.by === 'public' ? undefined : admitByAddress(request, buckets);
    return refusal === undefined ? { context: undefined } : { refusal };
  };
};

const callFunction = async (
  { endpoints }: Functions,
  request: ReceivedRequest,
  match: RouteMatch,
  context: AuthorizerContext | undefined,
): Promise<APIGatewayProxyResult> => {
  const { name, timeoutSeconds, memoryMb } = match.route;
  const handler = endpoints.get(name);
  if (handler === undefined) throw new Error(`no function for ${name}`);
  const limits = { requestId: request.requestId, timeoutSeconds, memoryMb };
  const result = await invoke(name, handler, proxyEvent(request, match, context), limits);
  if (!Number.isInteger(result?.statusCode)) throw new Error(`${name} gave no answer`);
  return result;
};

/** A refusal of the gateway: the same body and headers as a function's. */
const refuse = (
  { path, extendedRequestId }: ReceivedRequest,
  { code, headers }: Refusal,
): APIGatewayProxyResult => {
  const response = problemResponse(code, extendedRequestId, headers && { headers });
  return { ...response, headers: { ...commonHeaders(path, extendedRequestId), ...response.headers } };
};

/** An error of the gateway's own, an authorizer that failed or a function that ran out of time. */
const fail = (
  request: ReceivedRequest,
  match: RouteMatch | undefined,
  error: unknown,
): APIGatewayProxyResult => {
  logEvent('request_failed', {
    request_id: request.extendedRequestId,
    operation: match?.route.name,
    ...errorFields(error),
  });
  return refuse(request, { code: 'internal' });
};
