import type {
  APIGatewayProxyEvent,
  APIGatewayRequestAuthorizerEvent,
  APIGatewayRequestAuthorizerEventHeaders,
} from 'aws-lambda';
import type { ReceivedRequest } from './received-request.ts';
import type { RouteMatch } from './router.ts';

/** The names of this API in the events, where API Gateway has its own. */
const LOCAL_API = {
  accountId: '000000000000',
  apiId: 'local',
  stage: 'local',
  region: 'us-east-1',
} as const;

/** The authorizer's context as functions receive it: every value is a string. */
export type AuthorizerContext = Readonly<Record<string, string>>;

/** Builds the REST proxy event, version 1.0. Each request gets a new one, since a handler may change its event. */
export const proxyEvent = (
  request: ReceivedRequest,
  { route, pathParameters }: RouteMatch,
  authorizer: AuthorizerContext | undefined,
): APIGatewayProxyEvent => ({
  ...partsOf(request),
  pathParameters: pathParameters === null ? null : { ...pathParameters },
  stageVariables: null,
  resource: route.path,
  requestContext: requestContext(request, route.path, authorizer),
  body: request.body === 'too_large' || request.body.length === 0 ? null : request.body.toString('utf8'),
  isBase64Encoded: false,
});

/** `arn:aws:execute-api:<region>:<account>:<api>/<stage>/<METHOD>/<path>` */
export const methodArn = (method: string, path: string): string =>
  `arn:aws:execute-api:${LOCAL_API.region}:${LOCAL_API.accountId}:${LOCAL_API.apiId}/${LOCAL_API.stage}/${method}${path}`;

/** Builds the event of a REQUEST authorizer. */
export const authorizerEvent = (
  request: ReceivedRequest,
  { route, pathParameters }: RouteMatch,
): APIGatewayRequestAuthorizerEvent => ({
  type: 'REQUEST',
  methodArn: methodArn(request.method, request.path),
  resource: route.path,
  ...partsOf(request),
  headers: partsOf(request).headers as APIGatewayRequestAuthorizerEventHeaders,
  pathParameters: pathParameters === null ? null : { ...pathParameters },
  stageVariables: null,
  requestContext: requestContext(
    request,
    route.path,
    undefined,
  ) as APIGatewayRequestAuthorizerEvent['requestContext'],
});

const lastOf = (all: ReadonlyMap<string, readonly string[]>): Record<string, string> =>
  Object.fromEntries([...all].map(([name, values]) => [name, values.at(-1) ?? '']));

const allOf = (all: ReadonlyMap<string, readonly string[]>): Record<string, string[]> =>
  Object.fromEntries([...all].map(([name, values]) => [name, [...values]]));

const partsOf = ({ method, path, headers, query }: ReceivedRequest) => ({
  httpMethod: method,
  path,
  headers: lastOf(headers),
  multiValueHeaders: allOf(headers),
  queryStringParameters: query.size === 0 ? null : lastOf(query),
  multiValueQueryStringParameters: query.size === 0 ? null : allOf(query),
});

const requestContext = (
  request: ReceivedRequest,
  resourcePath: string,
  authorizer: AuthorizerContext | undefined,
): APIGatewayProxyEvent['requestContext'] =>
  ({
    accountId: LOCAL_API.accountId,
    apiId: LOCAL_API.apiId,
    stage: LOCAL_API.stage,
    authorizer: authorizer && { ...authorizer },
    protocol: 'HTTP/1.1',
    httpMethod: request.method,
    path: request.path,
    resourceId: resourcePath,
    resourcePath,
    requestId: request.requestId,
    extendedRequestId: request.extendedRequestId,
    requestTimeEpoch: request.receivedAtMs,
    identity: {
      accessKey: null,
      accountId: null,
      apiKey: null,
      apiKeyId: null,
      caller: null,
      clientCert: null,
      cognitoAuthenticationProvider: null,
      cognitoAuthenticationType: null,
      cognitoIdentityId: null,
      cognitoIdentityPoolId: null,
      principalOrgId: null,
      sourceIp: request.sourceIp,
      user: null,
      userAgent: lastOf(request.headers)['User-Agent'] ?? null,
      userArn: null,
    },
  }) as APIGatewayProxyEvent['requestContext'];
