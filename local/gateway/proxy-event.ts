import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type {
  APIGatewayProxyEvent,
  APIGatewayProxyResult,
  APIGatewayRequestAuthorizerEvent,
} from 'aws-lambda';
import { jsonText } from '#shared/http/responses.ts';
import type { RouteMatch } from './router.ts';

/** The payload limit of API Gateway: 10 MB. */
const MAX_BODY_BYTES = 10 * 1024 * 1024;

/** Names and values in their order; a name may come more than once. */
type Pairs = readonly (readonly [name: string, value: string])[];

/** A request that the gateway has received whole. */
export interface ReceivedRequest {
  /** The id that callers see. On AWS they can choose the other one. */
  readonly extendedRequestId: string;
  readonly receivedAtMs: number;
  readonly method: string;
  /** As it was sent, with its escapes, without the query. */
  readonly path: string;
  readonly query: Pairs;
  readonly headers: Pairs;
  readonly sourceIp: string;
  readonly body: Buffer;
}

/** Receives a request. Rejects if the client closes the connection before the end. */
export const receive = async (request: IncomingMessage): Promise<ReceivedRequest> => {
  const receivedAtMs = Date.now();
  const [path = '', ...rest] = (request.url ?? '').split('?');
  return {
    extendedRequestId: randomUUID(),
    receivedAtMs,
    method: request.method ?? '',
    path,
    query: [...new URLSearchParams(rest.join('?'))],
    headers: request.rawHeaders.flatMap((name, index, all) =>
      index % 2 === 0 ? [[name, all[index + 1] ?? ''] as const] : [],
    ),
    sourceIp: (request.socket.remoteAddress ?? '').replace(/^::ffff:/, ''),
    body: await readBody(request),
  };
};

/**
 * Keeps at most `limit` bytes, which every function refuses with body_too_large. The rest is read and dropped, so that the client gets the
 * response.
 */
export const readBody = async (request: IncomingMessage, limit = MAX_BODY_BYTES): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let missing = limit;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    if (missing > 0) chunks.push(chunk.subarray(0, missing));
    missing -= chunk.length;
  }
  return Buffer.concat(chunks);
};

/** The authorizer's context as functions receive it: every value is a string. */
export type AuthorizerContext = Readonly<Record<string, string>>;

/**
 * Builds the REST proxy event, version 1.0, without the fields of `requestContext` that no function reads. Each request gets a new one,
 * since a handler may change its event.
 */
export const proxyEvent = (
  { method, path, query, headers, body, ...request }: ReceivedRequest,
  { route, pathParameters }: RouteMatch,
  authorizer?: AuthorizerContext,
): APIGatewayProxyEvent => ({
  resource: route.path,
  path,
  httpMethod: method,
  headers: Object.fromEntries(headers),
  multiValueHeaders: allOf(headers),
  queryStringParameters: query.length === 0 ? null : Object.fromEntries(query),
  multiValueQueryStringParameters: query.length === 0 ? null : allOf(query),
  pathParameters,
  stageVariables: null,
  requestContext: {
    authorizer,
    httpMethod: method,
    path,
    resourcePath: route.path,
    requestId: randomUUID(),
    extendedRequestId: request.extendedRequestId,
    requestTimeEpoch: request.receivedAtMs,
    identity: { sourceIp: request.sourceIp },
  } as APIGatewayProxyEvent['requestContext'],
  body: body.length === 0 ? null : body.toString('utf8'),
  isBase64Encoded: false,
});

/** Builds the event of a REQUEST authorizer. */
export const authorizerEvent = (
  request: ReceivedRequest,
  match: RouteMatch,
): APIGatewayRequestAuthorizerEvent => {
  const { body: _, isBase64Encoded: __, ...parts } = proxyEvent(request, match);
  const methodArn = `arn:aws:execute-api:us-east-1:000000000000:local/local/${request.method}${request.path}`;
  return { type: 'REQUEST', methodArn, ...parts } as APIGatewayRequestAuthorizerEvent;
};

const allOf = (pairs: Pairs): Record<string, string[]> =>
  Object.fromEntries(
    [...Map.groupBy(pairs, ([name]) => name)].map(([name, all]) => [name, all.map(([, value]) => value)]),
  );

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
