import { randomUUID } from 'node:crypto';
import { authorizerEvent, proxyEvent } from '#local/gateway/proxy-event.ts';
import type { ReceivedRequest } from '#local/gateway/received-request.ts';
import { router } from '#local/gateway/router.ts';
import { allRoutes } from '#shared/routes.ts';

/** A generated person, as the body of POST /v1/users. */
export interface BenchPerson {
  readonly national_id: string;
  readonly birth_date: string;
  readonly phone: string;
  readonly display_name: string;
}

/** What the requests of one round need from the responses before them. */
export interface Round {
  readonly person: BenchPerson;
  readonly apiKey: string;
  readonly sellerId: string;
  /** The id of the user of `person`, once it is linked. */
  userId: string;
  /** Returns the code that was sent to the phone of `person`. */
  readonly code: () => string;
}

/** An operation as the benchmarks call it. */
export interface Operation {
  /** The row of the table of results. */
  readonly title: string;
  /** The name of the function. */
  readonly name: string;
  readonly event: (round: Round) => object;
}

const findRoute = router(allRoutes);

const received = (method: string, target: string, key: string, body?: object): ReceivedRequest => {
  const [path = '', query = ''] = target.split('?');
  return {
    requestId: randomUUID(),
    extendedRequestId: randomUUID(),
    receivedAtMs: Date.now(),
    method,
    path,
    headers: new Map([
      ['X-Api-Key', [key]],
      ['Content-Type', ['application/json']],
    ]),
    query: new Map([...new URLSearchParams(query)].map(([name, value]) => [name, [value]])),
    sourceIp: '192.0.2.1',
    body: Buffer.from(body === undefined ? '' : JSON.stringify(body)),
  };
};

/** Who sends a request. Each key id has its own rate limits. */
export interface Sender {
  readonly sellerId: string;
  readonly apiKey?: string;
  readonly keyId?: string;
}

/** The event of a request of a seller, as API Gateway passes it to the function. */
export const eventOf = (
  method: string,
  target: string,
  { sellerId, apiKey = '', keyId = 'key_bench' }: Sender,
  body?: object,
) => {
  const request = received(method, target, apiKey, body);
  const match = findRoute(method, request.path);
  if (match === undefined) throw new Error(`no route for ${method} ${request.path}`);
  return proxyEvent(request, match, {
    sellerId,
    keyId,
    plan: 'professional',
    scopes: 'users:read users:write',
    expiresAt: '',
    limits: '{}',
  });
};

/** Every operation, in an order in which each one finds what those before it have stored. */
export const OPERATIONS: readonly Operation[] = [
  {
    title: 'authorizer',
    name: 'authorizer',
    event: ({ apiKey }) => {
      const request = received('GET', '/v1/users', apiKey);
      return authorizerEvent(request, { route: allRoutes[0] as never, pathParameters: null });
    },
  },
  {
    title: 'POST /v1/users, new link',
    name: 'create-user',
    event: (round) => eventOf('POST', '/v1/users', round, round.person),
  },
  {
    title: 'POST /v1/users, existing link',
    name: 'create-user',
    event: (round) => eventOf('POST', '/v1/users', round, round.person),
  },
  { title: 'GET /v1/users', name: 'list-users', event: (round) => eventOf('GET', '/v1/users', round) },
  {
    title: 'GET /v1/users?phone',
    name: 'list-users',
    event: (round) => eventOf('GET', `/v1/users?phone=${encodeURIComponent(round.person.phone)}`, round),
  },
  {
    title: 'GET /v1/users/{id}',
    name: 'get-user',
    event: (round) => eventOf('GET', `/v1/users/${round.userId}`, round),
  },
  {
    title: 'POST /v1/auth/otp/send',
    name: 'send-otp',
    event: (round) => eventOf('POST', '/v1/auth/otp/send', round, { phone: round.person.phone }),
  },
  {
    title: 'POST /v1/auth/otp/verify',
    name: 'verify-otp',
    event: (round) =>
      eventOf('POST', '/v1/auth/otp/verify', round, { phone: round.person.phone, code: round.code() }),
  },
  {
    title: 'DELETE /v1/users/{id}',
    name: 'delete-user',
    event: (round) => eventOf('DELETE', `/v1/users/${round.userId}`, round),
  },
  {
    title: 'GET /.well-known/jwks.json',
    name: 'get-jwks',
    event: (round) => eventOf('GET', '/.well-known/jwks.json', round),
  },
  {
    title: 'GET /.well-known/openid-configuration',
    name: 'get-openid-configuration',
    event: (round) => eventOf('GET', '/.well-known/openid-configuration', round),
  },
  {
    title: 'GET /v1/openapi.json',
    name: 'get-openapi',
    event: (round) => eventOf('GET', '/v1/openapi.json', round),
  },
  { title: 'GET /docs', name: 'get-docs', event: (round) => eventOf('GET', '/docs', round) },
  {
    title: 'GET /docs/{guide}',
    name: 'get-guide',
    event: (round) => eventOf('GET', '/docs/quick-start', round),
  },
];
