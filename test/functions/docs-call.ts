import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import type { LambdaHandler } from '#shared/http/endpoint.ts';
import { redirectLog } from '#shared/log.ts';

/** Calls a function with a text response, without a key, as the gateway does. */
export const callForText = async (
  handler: LambdaHandler,
  path: string,
  pathParameters: Readonly<Record<string, string>> | null = null,
  headers: Readonly<Record<string, string>> = {},
  sentPath = `/dev${path}`,
) => {
  const restoreLog = redirectLog(() => {});
  const event = {
    httpMethod: 'GET',
    path,
    headers,
    pathParameters,
    multiValueQueryStringParameters: null,
    body: null,
    requestContext: { path: sentPath, requestId: 'chosen-by-the-caller', extendedRequestId: 'req-1' },
  } as unknown as APIGatewayProxyEvent;
  const context = { getRemainingTimeInMillis: () => 10_000 } as unknown as Context;
  const { statusCode: status, headers: sent = {}, body } = await handler(event, context).finally(restoreLog);
  return { status, headers: sent as Readonly<Record<string, string>>, body };
};
