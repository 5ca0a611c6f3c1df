import type { IncomingMessage, ServerResponse } from 'node:http';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { commonHeaders, PROBLEM_CONTENT_TYPE, problemResponse } from '#shared/http/responses.ts';
import { errorFields, logEvent } from '#shared/log.ts';
import type { ProblemBody } from '#shared/problems.ts';
import { isServed, type Route } from '#shared/route.ts';
import { allRoutes } from '#shared/routes.ts';
import { type AccessOptions, accessControl, GatewayRefusal } from './gateway/access-control.ts';
import { type Functions, invoke } from './gateway/functions.ts';
import { proxyEvent, type ReceivedRequest, receive, respond } from './gateway/proxy-event.ts';
import { type RouteMatch, router } from './gateway/router.ts';

/** One completed request, without the values that were sent. `route` undefined: no row of the table. */
export interface Completed {
  /** The id that the caller got in X-Request-Id. */
  readonly requestId: string;
  readonly method: string;
  readonly route: Route | undefined;
  readonly status: number;
  /** The body of an error response. The names of unknown fields in it are the caller's. */
  readonly problem: ProblemBody | undefined;
  readonly durationMs: number;
}

interface GatewayOptions extends AccessOptions {
  readonly functions: Functions;
  readonly onCompleted: (completed: Completed) => void;
  /** Builds the documentation site once, before the first request of its function: that takes longer than a function may. */
  readonly buildSite: () => Promise<unknown>;
}

/** Emulates API Gateway from the route table: finds the row, checks the key, calls the function, responds. Returns the HTTP handler. */
export const gateway = (options: GatewayOptions) => {
  const findRoute = router(allRoutes.filter((row) => isServed(row, options.otpAccess)));
  const controlAccess = accessControl(options);

  const resultOf = async (
    request: ReceivedRequest,
    match: RouteMatch | undefined,
  ): Promise<APIGatewayProxyResult> => {
    if (match === undefined) throw new GatewayRefusal('not_found');
    const context = await controlAccess(request, match);
    const { name } = match.route;
    const handler = options.functions.endpoints.get(name);
    if (handler === undefined) throw new Error(`no function for ${name}`);
    if (match.route.permissions.site) await options.buildSite();
    const result = await invoke(match.route, handler, proxyEvent(request, match, context));
    if (!Number.isInteger(result?.statusCode)) throw new Error(`${name} returned no response`);
    return result;
  };

  return async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request = await receive(incoming).catch(() => undefined);
    // The client closed the connection.
    if (request === undefined) return;
    const match = findRoute(request.method, request.path);
    const result = await resultOf(request, match).catch((error: unknown) => refusalOf(request, match, error));
    respond(response, result);
    options.onCompleted({
      requestId: request.extendedRequestId,
      method: request.method,
      route: match?.route,
      status: result.statusCode,
      problem: problemOf(result),
      durationMs: Date.now() - request.receivedAtMs,
    });
  };
};

/**
 * A refusal as a response, with the same body and headers as a refusal of a function. Logs any other error: of the gateway, or of a
 * function that failed or ran out of time.
 */
const refusalOf = (
  { extendedRequestId }: ReceivedRequest,
  match: RouteMatch | undefined,
  error: unknown,
): APIGatewayProxyResult => {
  const refusal = error instanceof GatewayRefusal ? error : undefined;
  if (refusal === undefined) {
    const operation = match?.route.name;
    logEvent('request_failed', { request_id: extendedRequestId, operation, ...errorFields(error) });
  }
  const headers = commonHeaders(extendedRequestId, false);
  return problemResponse(refusal?.code ?? 'internal', extendedRequestId, {
    headers,
    detail: refusal?.detail,
    retryAfterSeconds: refusal?.retryAfterSeconds,
  });
};

const problemOf = ({ headers = {}, body }: APIGatewayProxyResult): ProblemBody | undefined =>
  headers['Content-Type'] === PROBLEM_CONTENT_TYPE ? JSON.parse(body) : undefined;
