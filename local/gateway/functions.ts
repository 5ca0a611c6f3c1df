import type {
  APIGatewayAuthorizerResult,
  APIGatewayProxyEvent,
  APIGatewayProxyResult,
  APIGatewayRequestAuthorizerEvent,
  Context,
} from 'aws-lambda';
import { allRoutes } from '#shared/routes.ts';

type Handler<Event, Result> = (event: Event, context: Context) => Promise<Result>;

/** The functions that are deployed, as they are: the exported `handler` of each file of functions/. */
export interface Functions {
  readonly authorizer: Handler<APIGatewayRequestAuthorizerEvent, APIGatewayAuthorizerResult>;
  /** By the name of the row. */
  readonly endpoints: ReadonlyMap<string, Handler<APIGatewayProxyEvent, APIGatewayProxyResult>>;
}

/** Loads the authorizer and the function of every row. The environment must be set up before their first request. */
export const loadFunctions = async (): Promise<Functions> => {
  const [{ handler: authorizer }, ...loaded] = await Promise.all([
    import('#functions/authorizer.ts'),
    ...allRoutes.map(({ name }) => import(`#functions/${name}.ts`)),
  ]);
  const endpoints = new Map(allRoutes.map(({ name }, index) => [name, loaded[index].handler]));
  return { authorizer, endpoints };
};

/** A function did not answer within its time. */
export class FunctionTimeout extends Error {
  constructor(name: string) {
    super(`${name} did not answer in time`);
    this.name = 'FunctionTimeout';
  }
}

/** Calls a function as Lambda would: with a context that knows how much time is left, and no longer than that. */
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
