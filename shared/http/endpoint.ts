import middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import * as v from 'valibot';
import { bindOnce } from '#shared/bind-once.ts';
import { systemClock } from '#shared/clock.ts';
import type { Route } from '#shared/routes.ts';
import type { Caller } from './caller.ts';
import { close, closeWithProblem } from './closing.ts';
import { parseInput } from './input.ts';
import { parseJsonBody } from './json-body.ts';
import { admitCaller, type EndpointDeps, openScope, type RequestScope } from './request-scope.ts';
import type { Headers } from './responses.ts';

type Parsed<Schema> = Schema extends v.GenericSchema ? v.InferOutput<Schema> : undefined;

/** A request as a handler sees it: parsed, and never the event. */
export interface Request<R extends Route> {
  readonly body: Parsed<R['body']>;
  readonly query: Parsed<R['query']>;
  /** What stood in the path where the row's has `{name}`. */
  readonly pathParameters: Readonly<Record<string, string | undefined>>;
  /** Undefined on a row that takes no key. */
  readonly caller: Caller | undefined;
  readonly requestId: string;
  /** Resolves when the plan has room for this request; rejects with `rate_limit_exceeded`. Await it before anything is changed. */
  readonly admitted: Promise<void>;
  /** When this must be answered, epoch milliseconds: the function's time-out less a reserve. */
  readonly deadlineMs: number;
}

/** An answer as a handler gives it: one of the row's statuses with its body. */
export type ResponseOf<R extends Route> = {
  [Status in keyof R['responses'] & number]: {
    readonly status: Status;
    readonly body: v.InferInput<R['responses'][Status]['schema']>;
    readonly headers?: Headers;
  };
}[keyof R['responses'] & number];

export type Handle<R extends Route, Deps> = (request: Request<R>, deps: Deps) => Promise<ResponseOf<R>>;

export type LambdaHandler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

/** Kept back from the function's time-out for the answer and its log line. */
const RESERVE_MS = 500;

/** A request as its handler sees it, from the event and what is known so far. */
const requestFrom = <R extends Route>(
  route: R,
  event: APIGatewayProxyEvent,
  context: Context,
  scope: RequestScope,
): Request<R> => {
  const input = parseInput(route, { body: event.body, query: event.multiValueQueryStringParameters ?? {} });
  return {
    body: input.body as Parsed<R['body']>,
    query: input.query as Parsed<R['query']>,
    pathParameters: event.pathParameters ?? {},
    caller: scope.caller,
    requestId: scope.requestId,
    admitted: scope.admission?.verdict ?? Promise.resolve(),
    deadlineMs: Date.now() + context.getRemainingTimeInMillis() - RESERVE_MS,
  };
};

/** A handler's answer as a response: its body by the row's schema, so only declared fields go out. */
const responseFrom = <R extends Route>(route: R, reply: ResponseOf<R>): APIGatewayProxyResult => {
  const { schema, mediaType } = route.responses[reply.status] as R['responses'][number];
  const body = v.parse(schema, reply.body);
  return {
    statusCode: reply.status,
    headers: { 'Content-Type': mediaType ?? 'application/json', ...reply.headers },
    body: mediaType === undefined ? JSON.stringify(body) : (body as string),
  };
};

/**
 * The one middy stack. It turns a row of the route table and a handler into a Lambda function: who calls, is there room in the plan,
 * is the input right, then the handler, then its answer held to the row's schema; and any error into a problem.
 */
export const endpoint = <R extends Route, Deps extends EndpointDeps>(
  route: R,
  handle: Handle<R, Deps>,
  bind: () => Deps,
): LambdaHandler => {
  const deps = bindOnce(bind);
  /** The state of a request between the steps of the stack. */
  const scopes = new WeakMap<APIGatewayProxyEvent, RequestScope>();
  const scopeOf = (event: APIGatewayProxyEvent): RequestScope =>
    scopes.get(event) ?? openScope(route, event, systemClock);

  return middy<APIGatewayProxyEvent, APIGatewayProxyResult>({ timeoutEarlyInMillis: RESERVE_MS / 2 })
    .before(({ event }) => {
      const scope = openScope(route, event, deps().clock);
      scopes.set(event, scope);
      admitCaller(scope, route, event, deps());
    })
    .before(({ event }) => {
      if (route.body) parseJsonBody(event);
    })
    .after((request) => {
      request.response = close(request.response as APIGatewayProxyResult, scopeOf(request.event));
    })
    .onError(async (request) => {
      const scope = scopeOf(request.event);
      // The plan's limit is judged before the input: what is wrong with an input is said only if there was room for it.
      const error = await (scope.admission?.verdict ?? Promise.resolve()).then(
        () => request.error,
        (overLimit: unknown) => overLimit,
      );
      request.response = closeWithProblem(error, scope);
    })
    .handler(async (event: APIGatewayProxyEvent, context: Context) => {
      const scope = scopeOf(event);
      const response = responseFrom(route, await handle(requestFrom(route, event, context, scope), deps()));
      await scope.admission?.verdict;
      return response;
    }) as unknown as LambdaHandler;
};
