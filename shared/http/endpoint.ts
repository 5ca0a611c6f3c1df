import middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import * as v from 'valibot';
import type { VerifiedBuyer } from '#shared/access-tokens/verify.ts';
import type { Caller } from '#shared/api-keys/caller.ts';
import { bindOnce } from '#shared/env.ts';
import type { CountedRequest } from '#shared/rate-limits/request-limits.ts';
import { runInRequest } from '#shared/request-context.ts';
import type { Route, RouteResponse } from '#shared/route.ts';
import { jsonBody, parseInput } from './input.ts';
import { currentScope, headerOf, openScope, RESERVE_MS } from './request.ts';
import { complete, completeWithProblem, type Headers, jsonText } from './responses.ts';

type Parsed<Schema> = Schema extends v.GenericSchema ? v.InferOutput<Schema> : undefined;

type PathSchema<R extends Route> = R['pathParameters'] extends { readonly schema: infer Schema }
  ? Schema
  : undefined;

/** A keyed row always has a caller, an `otp` row unless otpAccess is `public`, a public row never. */
type CallerOf<R extends Route> = R['access'] extends { readonly by: 'key' | 'buyer' }
  ? Caller
  : R['access'] extends { readonly by: 'otp' }
    ? Caller | undefined
    : undefined;

type BuyerOf<R extends Route> = R['access'] extends { readonly by: 'buyer' } ? VerifiedBuyer : undefined;

export interface Request<R extends Route> {
  readonly path: Parsed<PathSchema<R>>;
  readonly query: Parsed<R['query']>;
  readonly body: Parsed<R['body']>;
  readonly caller: CallerOf<R>;
  readonly buyer: BuyerOf<R>;
  readonly authorization: string | undefined;
  /** Whether the request asks for a page for people, as a browser does. */
  readonly acceptsHtml: boolean;
  /** The count of this request, with the hourly limits that the row reads. Undefined on a row that reads none, and if it was not counted. */
  readonly counted: CountedRequest | undefined;
  /** When the response must be ready, in milliseconds of the monotonic clock (performance.now()). */
  readonly deadlineMs: number;
}

type DeepReadonly<Value> = { readonly [Key in keyof Value]: DeepReadonly<Value[Key]> };

/** A response as a handler returns it: one of the row's statuses, with its body if the row gives it a schema. */
export type ResponseOf<R extends Route> = {
  [Status in keyof R['responses'] & number]: {
    readonly status: Status;
    readonly headers?: Headers;
  } & (R['responses'][Status] extends { readonly schema: infer Schema extends v.GenericSchema }
    ? { readonly body: DeepReadonly<v.InferInput<Schema>> }
    : { readonly body?: undefined });
}[keyof R['responses'] & number];

export type Handle<R extends Route, Deps> = (request: Request<R>, deps: Deps) => Promise<ResponseOf<R>>;

export type LambdaHandler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

const requestFrom = <R extends Route>(route: R, event: APIGatewayProxyEvent): Request<R> => {
  const { caller, buyer, counted, deadlineMs } = currentScope();
  return {
    ...(parseInput(route, event) as Pick<Request<R>, 'path' | 'query' | 'body'>),
    caller: caller as CallerOf<R>,
    buyer: buyer as BuyerOf<R>,
    authorization: headerOf(event, 'authorization'),
    acceptsHtml: headerOf(event, 'accept')?.includes('text/html') === true,
    counted,
    deadlineMs,
  };
};

/** Only declared fields are sent. */
const responseFrom = (
  route: Route,
  { status, headers, body }: { readonly status: number; readonly headers?: Headers; readonly body?: unknown },
): APIGatewayProxyResult => {
  const { schema, mediaType } = route.responses[status] as RouteResponse;
  if (schema === undefined) return { statusCode: status, headers: { ...headers }, body: '' };
  const parsed = v.parse(schema, body);
  return {
    statusCode: status,
    headers: { 'Content-Type': mediaType ?? 'application/json', ...headers },
    body: mediaType === undefined ? jsonText(parsed) : (parsed as string),
  };
};

/** Waits for a count beside the handler. Throws `rate_limit_exceeded`. */
const countedBeside = async (): Promise<undefined> => {
  const scope = currentScope();
  scope.counted ??= await scope.counting;
};

interface Bound<Deps> {
  readonly deps: Deps;
  /** Sets the caller of the current request, counts it or starts to, and verifies its buyer. */
  readonly identifyCaller?: (event: APIGatewayProxyEvent) => Promise<void>;
}

/** The one middy stack of a row: from the caller to the response by the row's schema. Turns every error into a problem. */
export const endpointStack = <R extends Route, Deps>(
  route: R,
  bind: () => Bound<Deps>,
  handle: Handle<R, Deps>,
): LambdaHandler => {
  const bound = bindOnce(bind);
  const stack = middy<APIGatewayProxyEvent, APIGatewayProxyResult>({ timeoutEarlyInMillis: RESERVE_MS / 2 })
    // First, so that the response of every later error has the caller's headers.
    .before(({ event }) => bound().identifyCaller?.(event))
    .use(route.body === undefined ? [] : jsonBody(route.body))
    .after((request) => {
      request.response = complete(request.response as APIGatewayProxyResult);
    })
    .onError(async (request) => {
      // The plan's limit precedes the input: a request over the limit gets 429 even if its input is invalid.
      const overLimit = await countedBeside().catch((error: unknown) => error);
      request.response = completeWithProblem(overLimit ?? request.error);
    })
    .handler(async (event: APIGatewayProxyEvent) => {
      const request = requestFrom(route, event);
      const response = responseFrom(route, await handle(request, bound().deps));
      // What was read beside the count is discarded if the request is over the limit.
      await countedBeside();
      return response;
    }) as unknown as LambdaHandler;

  return (event, context) => runInRequest(openScope(route, event, context), () => stack(event, context));
};

export const endpoint = <R extends Route & { readonly access: { readonly by: 'public' } }, Deps>(
  route: R,
  build: () => Deps,
  handle: Handle<R, Deps>,
): LambdaHandler => endpointStack(route, () => ({ deps: build() }), handle);
