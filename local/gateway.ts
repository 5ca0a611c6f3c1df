import type { IncomingMessage, ServerResponse } from 'node:http';
import type { APIGatewayProxyResult } from 'aws-lambda';
import type { Clock } from '#shared/clock.ts';
import type { OtpAccess } from '#shared/env.ts';
import { commonHeaders, PROBLEM_CONTENT_TYPE, problemResponse } from '#shared/http/responses.ts';
import { errorFields, logEvent } from '#shared/log.ts';
import type { ProblemCode } from '#shared/problems.ts';
import { type Route, requiresKey } from '#shared/route.ts';
import { allRoutes } from '#shared/routes.ts';
import {
  type AccessCheck,
  type AccessCheckDeps,
  checkAddress,
  checkKey,
  type Refusal,
  type UsagePlanKeys,
} from './gateway/access-check.ts';
import { authorizerCache } from './gateway/authorizer-cache.ts';
import { atMost } from './gateway/concurrency.ts';
import { rateBasedFirewall } from './gateway/firewall.ts';
import { type Functions, invoke } from './gateway/functions.ts';
import { type AuthorizerContext, authorizerEvent, proxyEvent } from './gateway/proxy-event.ts';
import { type ReceivedRequest, receive } from './gateway/received-request.ts';
import { respond } from './gateway/respond.ts';
import { type RouteMatch, router } from './gateway/router.ts';
import { tokenBuckets } from './gateway/token-buckets.ts';

/** One completed request, with what a terminal may show of it. `route` undefined: no row of the table. */
export interface Completed {
  readonly method: string;
  readonly route: Route | undefined;
  readonly status: number;
  /** The problem code of a refusal. */
  readonly code: ProblemCode | undefined;
  readonly durationMs: number;
}

/** The options of the local gateway. */
export interface GatewayOptions {
  /** The route table; tests give others. */
  readonly routes?: readonly Route[];
  readonly functions: Functions;
  readonly usagePlans: UsagePlanKeys & { onFlush(listener: () => void): void };
  readonly otpAccess: OtpAccess;
  readonly clock: Clock;
  readonly onCompleted: (completed: Completed) => void;
}

/** Handles one HTTP request. */
export type Gateway = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** The authorizer's function, as lib/api-stack.ts deploys it. */
const AUTHORIZER = { timeoutSeconds: 5, memoryMb: 1024 } as const;

/**
 * On AWS each request has a container of its own. Here one process serves all of them: with more at a time, timeouts that hold on AWS
 * end because of the process. The others wait before their function starts, so the wait uses up none of its time.
 */
const MAX_CONCURRENT_REQUESTS = 64;

/** Emulates API Gateway from the route table: finds the row, checks the key, calls the function, responds. */
export const gateway = (options: GatewayOptions): Gateway => {
  const findRoute = router(options.routes ?? allRoutes);
  const checkAccess = accessCheck(options);
  const withContainer = atMost(MAX_CONCURRENT_REQUESTS);

  const resultOf = async (
    request: ReceivedRequest,
    match: RouteMatch | undefined,
  ): Promise<APIGatewayProxyResult> => {
    if (match === undefined) return refuse(request, { code: 'not_found' });
    const access = await checkAccess(request, match);
    if ('refusal' in access) return refuse(request, access.refusal);
    if (request.body === 'too_large') return refuse(request, { code: 'body_too_large' });
    return callFunction(options.functions, request, { ...match, context: access.context });
  };

  return async (incoming, response) => {
    const request = await receive(incoming).catch(() => undefined);
    // The client closed the connection.
    if (request === undefined) return;
    const match = findRoute(request.method, request.path);
    const result = await withContainer(() => resultOf(request, match)).catch((error: unknown) =>
      fail(request, match, error),
    );
    respond(response, result);
    options.onCompleted({
      method: request.method,
      route: match?.route,
      status: result.statusCode,
      code: problemCodeOf(result),
      durationMs: Date.now() - request.receivedAtMs,
    });
  };
};

/** The checks before a function: of the key where the row needs one, else of the address. */
const accessCheck = ({ functions, usagePlans, otpAccess, clock }: GatewayOptions) => {
  const cache = authorizerCache(clock);
  usagePlans.onFlush(cache.flush);
  const deps: AccessCheckDeps = {
    authorize: (request, match) =>
      invoke('authorizer', functions.authorizer, authorizerEvent(request, match), {
        requestId: request.requestId,
        ...AUTHORIZER,
      }),
    cache,
    usagePlans,
    buckets: tokenBuckets(clock),
    firewall: rateBasedFirewall(clock),
  };
  return async (request: ReceivedRequest, match: RouteMatch): Promise<AccessCheck> => {
    if (requiresKey(match.route, otpAccess)) return checkKey(request, match, deps);
    return match.route.access.by === 'public' ? { context: undefined } : checkAddress(request, deps);
  };
};

const callFunction = async (
  { endpoints }: Functions,
  request: ReceivedRequest,
  match: RouteMatch & { readonly context: AuthorizerContext | undefined },
): Promise<APIGatewayProxyResult> => {
  const { name, timeoutSeconds, memoryMb } = match.route;
  const handler = endpoints.get(name);
  if (handler === undefined) throw new Error(`no function for ${name}`);
  const limits = { requestId: request.requestId, timeoutSeconds, memoryMb };
  const result = await invoke(name, handler, proxyEvent(request, match, match.context), limits);
  if (!Number.isInteger(result?.statusCode)) throw new Error(`${name} returned no response`);
  return result;
};

/** A refusal of the gateway, with the same body and headers as a refusal of a function. */
const refuse = (
  { path, extendedRequestId }: ReceivedRequest,
  { code, headers }: Refusal,
): APIGatewayProxyResult => {
  const response = problemResponse(code, extendedRequestId, headers && { headers });
  return { ...response, headers: { ...commonHeaders(path, extendedRequestId), ...response.headers } };
};

/** Logs an error of the gateway, or of a function that failed or ran out of time, and returns `internal`. */
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

const problemCodeOf = ({ headers = {}, body }: APIGatewayProxyResult): ProblemCode | undefined =>
  headers['Content-Type'] === PROBLEM_CONTENT_TYPE ? JSON.parse(body).code : undefined;
