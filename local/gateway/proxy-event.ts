import type { ServerResponse } from 'node:http';
import type {
  APIGatewayProxyEvent,
  APIGatewayProxyResult,
  APIGatewayRequestAuthorizerEvent,
} from 'aws-lambda';
import { jsonText } from '#shared/http/responses.ts';
import { headerOf, type ReceivedRequest, type Values } from './received-request.ts';
import type { RouteMatch } from './router.ts';

/** The authorizer's context as functions receive it: every value is a string. */
export type AuthorizerContext = Readonly<Record<string, string>>;

/** Builds the REST proxy event, version 1.0. Each request gets a new one, since a handler may change its event. */
export const proxyEvent = (
  request: ReceivedRequest,
  match: RouteMatch,
  authorizer: AuthorizerContext | undefined,
): APIGatewayProxyEvent => ({
  ...partsOf(request, match),
  requestContext: requestContext(request, match, authorizer),
  body: request.body === 'too_large' || request.body.length === 0 ? null : request.body.toString('utf8'),
  isBase64Encoded: false,
});

/** Builds the event of a REQUEST authorizer. */
export const authorizerEvent = (
  request: ReceivedRequest,
  match: RouteMatch,
): APIGatewayRequestAuthorizerEvent => ({
  type: 'REQUEST',
  methodArn: methodArn(request.method, request.path),
  ...partsOf(request, match),
  requestContext: requestContext(
    request,
    match,
    undefined,
  ) as APIGatewayRequestAuthorizerEvent['requestContext'],
});

/** `arn:aws:execute-api:<region>:<account>:<api>/<stage>/<METHOD>/<path>` */
export const methodArn = (method: string, path: string): string =>
  `arn:aws:execute-api:us-east-1:000000000000:local/local/${method}${path}`;

const lastOf = (all: Values): Record<string, string> =>
  Object.fromEntries([...all].map(([name, values]) => [name, values.at(-1) ?? '']));

const allOf = (all: Values): Record<string, string[]> =>
  Object.fromEntries([...all].map(([name, values]) => [name, [...values]]));

const partsOf = (
  { method, path, headers, query }: ReceivedRequest,
  { route, pathParameters }: RouteMatch,
) => ({
  resource: route.path,
  path,
  httpMethod: method,
  headers: lastOf(headers),
  multiValueHeaders: allOf(headers),
  queryStringParameters: query.size === 0 ? null : lastOf(query),
  multiValueQueryStringParameters: query.size === 0 ? null : allOf(query),
  pathParameters: pathParameters && { ...pathParameters },
  stageVariables: null,
});

/** Without the fields of `identity` that are null for a caller who is no AWS user. */
const requestContext = (
  request: ReceivedRequest,
  { route }: RouteMatch,
  authorizer: AuthorizerContext | undefined,
): APIGatewayProxyEvent['requestContext'] =>
  ({
    accountId: '000000000000',
    apiId: 'local',
    stage: 'local',
    authorizer: authorizer && { ...authorizer },
    protocol: 'HTTP/1.1',
    httpMethod: request.method,
    path: request.path,
    resourceId: route.path,
    resourcePath: route.path,
    requestId: request.requestId,
    extendedRequestId: request.extendedRequestId,
    requestTimeEpoch: request.receivedAtMs,
    identity: { sourceIp: request.sourceIp, userAgent: headerOf(request, 'user-agent') ?? null },
  }) as APIGatewayProxyEvent['requestContext'];

/** Sends the response of a function or of the gateway. Sends nothing if the client has closed the connection. */
export const respond = (
  response: ServerResponse,
  { statusCode, headers = {}, body }: APIGatewayProxyResult,
): void => {
  if (response.destroyed || response.headersSent) return;
  response.statusCode = statusCode;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, String(value));
  // Node adds Content-Length; a 204 has neither that nor a body (RFC 9110 §8.6).
  response.end(body);
};

/** A JSON result that no cache may store. */
export const jsonResult = (statusCode: number, value: unknown): APIGatewayProxyResult => ({
  statusCode,
  headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' },
  body: jsonText(value),
});
