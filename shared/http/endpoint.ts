import middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import * as v from 'valibot';
import type { Clock } from '#shared/clock/port.ts';
import { type OtpAccess, runsInLambda } from '#shared/env.ts';
import { errorFields, logEvent } from '#shared/log.ts';
import { Problem, problem } from '#shared/problems.ts';
import type { RequestMeter } from '#shared/request-meter/store.ts';
import { needsKey, type Route } from '#shared/routes.ts';
import { type Admission, admit } from './admission.ts';
import { type Caller, callerFrom } from './caller.ts';
import { parseInput } from './input.ts';
import { parseJsonBody } from './json-body.ts';
import { commonHeaders, type Headers, problemResponse } from './responses.ts';

/** What every endpoint needs besides its own dependencies. A row without a key needs no meter. */
export interface EndpointDeps {
  readonly clock: Clock;
  readonly meter?: Pick<RequestMeter, 'count'>;
  readonly otpAccess?: OtpAccess;
}

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
export type AnswerOf<R extends Route> = {
  [Status in keyof R['answers'] & number]: {
    readonly status: Status;
    readonly body: v.InferInput<R['answers'][Status]['schema']>;
    readonly headers?: Headers;
  };
}[keyof R['answers'] & number];

export type Handle<R extends Route, Deps> = (request: Request<R>, deps: Deps) => Promise<AnswerOf<R>>;

export type LambdaHandler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

/** Kept back from the function's time-out for the answer and its log line. */
const RESERVE_MS = 500;

/** What is known of a request from its first line on. */
interface Scope {
  readonly startedAtMs: number;
  readonly requestId: string;
  caller?: Caller;
  admission?: Admission;
}

const requestIdOf = ({ requestContext }: APIGatewayProxyEvent): string =>
  // A caller can choose `requestId` by a header; nobody can choose the extended one.
  requestContext.extendedRequestId ?? requestContext.requestId;

const problemOf = (error: unknown): Problem =>
  error instanceof Problem ? error : problem('internal', { cause: error });

/**
 * The one middy stack. It turns a row of the route table and a handler into a Lambda function: who calls, is there room in the plan,
 * is the input right, then the handler, then its answer held to the row's schema; and any error into a problem.
 */
export const endpoint = <R extends Route, Deps extends EndpointDeps>(
  route: R,
  handle: Handle<R, Deps>,
  bind: () => Deps,
): LambdaHandler => {
  let bound: Deps | undefined;
  const deps = (): Deps => {
    bound ??= bind();
    return bound;
  };
  // In Lambda the clients are made while the module loads, at full CPU; elsewhere a module loads without an environment.
  if (runsInLambda()) deps();

  /** Who calls, and room in the plan: begun first, so that the meter's write runs beside all reads. */
  const openScope = (event: APIGatewayProxyEvent): Scope => {
    const { clock, meter, otpAccess = 'api-key' } = deps();
    const startedAtMs = clock();
    const scope: Scope = { startedAtMs, requestId: requestIdOf(event) };
    if (!needsKey(route, otpAccess)) return scope;
    if (meter === undefined) throw new Error('a row with a key needs a meter');
    scope.caller = callerFrom(event.requestContext.authorizer, startedAtMs);
    scope.admission = admit(meter, scope.caller, startedAtMs, {
      requestId: scope.requestId,
      operation: route.name,
    });
    return scope;
  };

  const answer = async (
    event: APIGatewayProxyEvent,
    context: Context,
    scope: Scope,
  ): Promise<APIGatewayProxyResult> => {
    const input = parseInput(route, {
      body: event.body,
      query: event.multiValueQueryStringParameters ?? {},
    });
    const reply = await handle(
      {
        body: input.body as Parsed<R['body']>,
        query: input.query as Parsed<R['query']>,
        pathParameters: event.pathParameters ?? {},
        caller: scope.caller,
        requestId: scope.requestId,
        admitted: scope.admission?.verdict ?? Promise.resolve(),
        deadlineMs: Date.now() + context.getRemainingTimeInMillis() - RESERVE_MS,
      },
      deps(),
    );
    const { schema, mediaType } = route.answers[reply.status] as R['answers'][number];
    const body = v.parse(schema, reply.body);
    return {
      statusCode: reply.status,
      headers: { 'Content-Type': mediaType ?? 'application/json', ...reply.headers },
      body: mediaType === undefined ? JSON.stringify(body) : (body as string),
    };
  };

  /** The last word on every answer: its headers, and its one line in the log. */
  const close = (
    response: APIGatewayProxyResult,
    scope: Scope,
    event: APIGatewayProxyEvent,
    refusal?: Problem,
  ) => {
    logEvent('request_completed', {
      request_id: scope.requestId,
      operation: route.name,
      status: response.statusCode,
      code: refusal?.code,
      outcome: refusal?.code ?? 'ok',
      duration_ms: deps().clock() - scope.startedAtMs,
      seller_id: scope.caller?.sellerId,
      key_id: scope.caller?.keyId,
      plan: scope.caller?.plan,
    });
    return {
      ...response,
      headers: {
        ...commonHeaders(event.path, scope.requestId),
        ...scope.admission?.headers(),
        ...response.headers,
      },
    };
  };

  const refuse = (error: unknown, scope: Scope, event: APIGatewayProxyEvent): APIGatewayProxyResult => {
    const refusal = problemOf(error);
    if (refusal.code === 'internal') {
      logEvent('request_failed', {
        request_id: scope.requestId,
        operation: route.name,
        ...errorFields(refusal.cause ?? refusal),
      });
    }
    const { errors, retryAfterSeconds } = refusal;
    const headers: Headers =
      retryAfterSeconds === undefined ? {} : { 'Retry-After': String(Math.ceil(retryAfterSeconds)) };
    return close(problemResponse(refusal.code, scope.requestId, { errors, headers }), scope, event, refusal);
  };

  /** The state of a request between the steps of the stack. */
  const scopes = new WeakMap<APIGatewayProxyEvent, Scope>();
  const scopeOf = (event: APIGatewayProxyEvent): Scope =>
    scopes.get(event) ?? { startedAtMs: Date.now(), requestId: requestIdOf(event) };

  return middy<APIGatewayProxyEvent, APIGatewayProxyResult>({ timeoutEarlyInMillis: RESERVE_MS / 2 })
    .before(({ event }) => {
      scopes.set(event, openScope(event));
    })
    .before(({ event }) => {
      if (route.body) parseJsonBody(event);
    })
    .after((request) => {
      request.response = close(
        request.response as APIGatewayProxyResult,
        scopeOf(request.event),
        request.event,
      );
    })
    .onError(async (request) => {
      const scope = scopeOf(request.event);
      // The plan's limit is judged before the input: what is wrong with an input is said only if there was room for it.
      const error = await (scope.admission?.verdict ?? Promise.resolve()).then(
        () => request.error,
        (overLimit: unknown) => overLimit,
      );
      request.response = refuse(error, scope, request.event);
    })
    .handler(async (event: APIGatewayProxyEvent, context: Context) => {
      const scope = scopeOf(event);
      const response = await answer(event, context, scope);
      await scope.admission?.verdict;
      return response;
    }) as unknown as LambdaHandler;
};
