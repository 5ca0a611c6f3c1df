import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { Route } from '#shared/route.ts';

/** What a caller sends to an operation, and the scopes of its key. */
export interface Sent {
  readonly body?: unknown;
  readonly pathParameters?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, readonly string[]>>;
  readonly scopes?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** What the authorizer says about the key besides. */
  readonly caller?: Readonly<Record<string, string>>;
}

/** Returns the event that API Gateway passes to a row's function for a key, of the seller sel_test unless `caller` says otherwise. */
export const gatewayEvent = (
  { method, path }: Pick<Route, 'method' | 'path'>,
  { body, pathParameters, query, scopes = 'users:read users:write', headers = {}, caller = {} }: Sent,
) =>
  ({
    httpMethod: method,
    path,
    headers: { 'content-type': 'application/json', ...headers },
    pathParameters: pathParameters ?? null,
    multiValueQueryStringParameters: query ?? null,
    body: body === undefined ? null : JSON.stringify(body),
    isBase64Encoded: false,
    requestContext: {
      requestId: 'request',
      authorizer: {
        sellerId: 'sel_test',
        keyId: 'key_test',
        plan: 'professional',
        scopes,
        expiresAt: '',
        secretNumber: '2',
        ...caller,
      },
    },
  }) as unknown as APIGatewayProxyEvent;
