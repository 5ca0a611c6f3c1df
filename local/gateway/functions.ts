import type {
  APIGatewayAuthorizerResult,
  APIGatewayProxyEvent,
  APIGatewayProxyResult,
  APIGatewayRequestAuthorizerEvent,
  Context,
} from 'aws-lambda';
import { authorizer } from '#shared/api-keys/authorizer.ts';
import type { FunctionRow } from '#shared/route.ts';
import { allRoutes } from '#shared/routes.ts';

type Handler<Event, Result> = (event: Event, context: Context) => Promise<Result>;
type Endpoint = Handler<APIGatewayProxyEvent, APIGatewayProxyResult>;

/** The deployed functions: the exported `handler` of each file in functions/. */
export interface Functions {
  readonly authorizer: Handler<APIGatewayRequestAuthorizerEvent, APIGatewayAuthorizerResult>;
  /** By the name of the route. */
  readonly endpoints: ReadonlyMap<string, Endpoint>;
}

/** Loads the authorizer and the function of every route. The environment must be set before their first request. */
export const loadFunctions = async (): Promise<Functions> => {
  const handlerOf = async (name: string) => (await import(`#functions/${name}.ts`)).handler;
  const endpoints = allRoutes.map(
    async ({ name }): Promise<[string, Endpoint]> => [name, await handlerOf(name)],
  );
  return { authorizer: await handlerOf(authorizer.name), endpoints: new Map(await Promise.all(endpoints)) };
};

/** Calls a function as Lambda does: with a context that says how much time is left. Rejects after that time. */
export const invoke = async <Event, Result>(
  { name, timeoutSeconds }: Pick<FunctionRow, 'name' | 'timeoutSeconds'>,
  handler: Handler<Event, Result>,
  event: Event,
): Promise<Result> => {
  const deadlineMs = Date.now() + timeoutSeconds * 1000;
  const context = { getRemainingTimeInMillis: () => Math.max(0, deadlineMs - Date.now()) } as Context;
  const timeout = Promise.withResolvers<never>();
  const timer = setTimeout(() => timeout.reject(new Error(`${name} timed out`)), timeoutSeconds * 1000);
  try {
    return await Promise.race([handler(event, context), timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
};
