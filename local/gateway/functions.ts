import type {
  APIGatewayAuthorizerResult,
  APIGatewayProxyEvent,
  APIGatewayProxyResult,
  APIGatewayRequestAuthorizerEvent,
  Context,
} from 'aws-lambda';
import type { Route } from '#shared/route.ts';
import { allRoutes } from '#shared/routes.ts';

type Handler<Event, Result> = (event: Event, context: Context) => Promise<Result>;

/** The deployed functions: the exported `handler` of each file in functions/. */
export interface Functions {
  readonly authorizer: Handler<APIGatewayRequestAuthorizerEvent, APIGatewayAuthorizerResult>;
  /** By the name of the route. */
  readonly endpoints: ReadonlyMap<string, Handler<APIGatewayProxyEvent, APIGatewayProxyResult>>;
}

/** Loads the authorizer and the function of every route. The environment must be set before their first request. */
export const loadFunctions = async (routes: readonly Route[] = allRoutes): Promise<Functions> => {
  const [{ handler: authorizer }, ...loaded] = await Promise.all([
    import('#functions/authorizer.ts'),
    ...routes.map(({ name }) => import(`#functions/${name}.ts`)),
  ]);
  const endpoints = new Map(routes.map(({ name }, index) => [name, loaded[index].handler]));
  return { authorizer, endpoints };
};

/** A function did not return before its timeout. */
export class FunctionTimeout extends Error {
  constructor(name: string) {
    super(`${name} timed out`);
    this.name = 'FunctionTimeout';
  }
}

/** Calls a function as Lambda does: with a context that says how much time is left. Throws FunctionTimeout after that time. */
export const invoke = async <Event, Result>(
  name: string,
  handler: Handler<Event, Result>,
  event: Event,
  options: { readonly requestId: string; readonly timeoutSeconds: number; readonly memoryMb: number },
): Promise<Result> => {
  const deadlineMs = Date.now() + options.timeoutSeconds * 1000;
  const context = contextOf(name, options, deadlineMs);
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new FunctionTimeout(name)), options.timeoutSeconds * 1000);
  });
  try {
    return await Promise.race([handler(event, context), timeout]);
  } finally {
    clearTimeout(timer);
  }
};

const contextOf = (
  name: string,
  { requestId, memoryMb }: { readonly requestId: string; readonly memoryMb: number },
  deadlineMs: number,
): Context => ({
  awsRequestId: requestId,
  callbackWaitsForEmptyEventLoop: false,
  functionName: name,
  functionVersion: '$LATEST',
  invokedFunctionArn: `arn:aws:lambda:us-east-1:000000000000:function:${name}`,
  logGroupName: `/aws/lambda/${name}`,
  logStreamName: 'local',
  memoryLimitInMB: String(memoryMb),
  getRemainingTimeInMillis: () => Math.max(0, deadlineMs - Date.now()),
  done: () => {},
  fail: () => {},
  succeed: () => {},
});
