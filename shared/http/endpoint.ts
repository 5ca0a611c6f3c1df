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
import { headerOf, openScope, RESERVE_MS, type RequestScope } from './request.ts';
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
  /** The path as it was sent: on the default endpoint with the stage. */
  readonly sentPath: string;
  /** The domain of the request and the stage, as the gateway says. */
  readonly domainName: string | undefined;
  readonly stage: string;
  /** Whether the request asks for a page for people, as a browser does. */
  readonly acceptsHtml: boolean;
  /** The count of this request, with the hourly limits that the row reads. Undefined on a row that reads none, and if it was not counted. */
  readonly counted: CountedRequest | undefined;
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

const requestFrom = <R extends Route>(
  route: R,
  event: APIGatewayProxyEvent,
  { caller, buyer, counted }: RequestScope,
): Request<R> => ({
  ...(parseInput(route, event) as Pick<Request<R>, 'path' | 'query' | 'body'>),
  caller: caller as CallerOf<R>,
  buyer: buyer as BuyerOf<R>,
  authorization: headerOf(event, 'authorization'),
  sentPath: event.requestContext.path,
  domainName: event.requestContext.domainName,
  stage: event.requestContext.stage,
  acceptsHtml: headerOf(event, 'accept')?.includes('text/html') === true,
  counted,
});

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
const countedBeside = async (scope: RequestScope): Promise<undefined> => {
  scope.counted ??= await scope.counting;
};

interface Bound<Deps> {
  readonly deps: Deps;
  /** Sets the caller of a request, counts it or starts to, and verifies its buyer. */
  readonly identifyCaller?: (event: APIGatewayProxyEvent, scope: RequestScope) => Promise<void>;
}

/** Carries the scope of a request through the stack. */
interface ScopedContext extends Context {
  readonly scope: RequestScope;
}

/** The one middy stack of a row: from the caller to the response by the row's schema. Turns every error into a problem. */
export const endpointStack = <R extends Route, Deps>(
  route: R,
  bind: () => Bound<Deps>,
  handle: Handle<R, Deps>,
): LambdaHandler => {
  const bound = bindOnce(bind);
  const stack = middy<APIGatewayProxyEvent, APIGatewayProxyResult, Error, ScopedContext>({
    timeoutEarlyInMillis: RESERVE_MS / 2,
  })
    // First, so that the response of every later error has the caller's headers.
    .before(({ event, context: { scope } }) => bound().identifyCaller?.(event, scope))
    .use(route.body === undefined ? [] : jsonBody(route.body))
    .after((request) => {
      request.response = complete(request.context.scope, request.response as APIGatewayProxyResult);
    })
    .onError(async (request) => {
      // The plan's limit precedes the input: a request over the limit gets 429 even if its input is invalid.
      const { scope } = request.context;
      const overLimit = await countedBeside(scope).catch((error: unknown) => error);
      request.response = completeWithProblem(scope, overLimit ?? request.error);
    })
    .handler(async (event: APIGatewayProxyEvent, { scope }: ScopedContext) => {
      const request = requestFrom(route, event, scope);
      const response = responseFrom(route, await handle(request, bound().deps));
      // What was read beside the count is discarded if the request is over the limit.
      await countedBeside(scope);
      return response;
    });

  return (event, context) => {
    const scope = openScope(route, event, context);
    return runInRequest(scope, () => stack(event, Object.assign(context, { scope })));
  };
};

export const endpoint = <R extends Route & { readonly access: { readonly by: 'public' } }, Deps>(
  route: R,
  build: () => Deps,
  handle: Handle<R, Deps>,
): LambdaHandler => endpointStack(route, () => ({ deps: build() }), handle);
