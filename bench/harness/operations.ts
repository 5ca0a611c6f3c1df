import { randomUUID } from 'node:crypto';
import { authorizerEvent, proxyEvent, type ReceivedRequest } from '#local/gateway/proxy-event.ts';
import { type RouteMatch, router } from '#local/gateway/router.ts';
import { allRoutes } from '#shared/routes.ts';
import type { newDemoPerson } from '#test/simulators/people.ts';

/** What the requests of one round need from the responses before them. */
export interface Round {
  readonly person: ReturnType<typeof newDemoPerson>;
  readonly apiKey: string;
  readonly keyId: string;
  readonly sellerId: string;
  /** The id of the user of `person`, once it is linked. */
  userId: string;
  /** The access token of `person`, once its code is verified. */
  token: string;
  /** The id of the link that the buyer reads and ends. */
  linkId: string;
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
  /** What has to happen before the request and is not measured. */
  readonly before?: Preparation;
}

/** `age`: the last check of the user becomes older than the time in which a check is not made again. `link`: the person is linked again. */
export type Preparation = 'age' | 'link';

/** A request of an operation. */
interface OperationRequest {
  /** Begins with the method and the path. */
  readonly title: string;
  /** The path with its values, if it is not the one in the title. */
  readonly target?: (round: Round) => string;
  readonly body?: (round: Round) => object;
  readonly before?: Preparation;
}

const findRoute = router(allRoutes);

/** Who sends a request. Each key id has its own rate limits. */
interface Sender {
  readonly sellerId: string;
  readonly apiKey?: string;
  readonly keyId?: string;
  /** The access token of a buyer. */
  readonly token?: string;
}

type Credentials = Pick<Sender, 'apiKey' | 'token'>;

/** Returns a request as the gateway receives it, and its route. */
const receive = (method: string, target: string, { apiKey = '', token = '' }: Credentials, body?: object) => {
  const [path = '', query = ''] = target.split('?');
  const request: ReceivedRequest = {
    extendedRequestId: randomUUID(),
    receivedAtMs: Date.now(),
    method,
    path,
    headers: [
      ['X-Api-Key', apiKey],
      ['Content-Type', 'application/json'],
      ...(token === '' ? [] : [['Authorization', `Bearer ${token}`] as const]),
    ],
    query: [...new URLSearchParams(query)],
    sourceIp: '192.0.2.1',
    body: Buffer.from(body === undefined ? '' : JSON.stringify(body)),
  };
  return [request, findRoute(method, path) as RouteMatch] as const;
};

/** The scopes of the seller's key. */
export const SCOPES = ['users:read', 'users:write', 'events:read', 'key:rotate'] as const;

/** The event of a request of a seller, as API Gateway passes it to the function. */
export const eventOf = (method: string, target: string, sender: Sender, body?: object) => {
  const { sellerId, keyId = 'key_bench' } = sender;
  // With the one of the buyer app, whose operations are measured too.
  const scopes = [...SCOPES, 'buyers:links'].join(' ');
  const context = { sellerId, keyId, secretNumber: '1', plan: 'professional', scopes, expiresAt: '' };
  return proxyEvent(...receive(method, target, sender, body), context);
};

const operationOf = ({ title, target, body, before }: OperationRequest): Operation => {
  const [, method = '', path = ''] = /^([A-Z]+) ([^?,]+)/.exec(title) ?? [];
  return {
    title,
    name: findRoute(method, path)?.route.name ?? '',
    event: (round) => eventOf(method, target?.(round) ?? path, round, body?.(round)),
    ...(before && { before }),
  };
};

const authorizer: Operation = {
  title: 'authorizer',
  name: 'authorizer',
  event: ({ apiKey }) => authorizerEvent(...receive('GET', '/v1/users', { apiKey })),
};

const userPath = ({ userId }: Round): string => `/v1/users/${userId}`;

const REQUESTS: readonly OperationRequest[] = [
  { title: 'POST /v1/users, new link', body: ({ person }) => person },
  { title: 'POST /v1/users, existing link', body: ({ person }) => person },
  { title: 'GET /v1/users' },
  {
    title: 'GET /v1/users?phone',
    target: ({ person }) => `/v1/users?phone=${encodeURIComponent(person.phone)}`,
  },
  { title: 'GET /v1/users/{id}', target: userPath },
  { title: 'PATCH /v1/users/{id}', target: userPath, body: () => ({ display_name: 'Sara Karimi' }) },
  {
    title: 'POST /v1/users/{id}/checks',
    target: (round) => `${userPath(round)}/checks`,
    body: ({ person: { national_id, birth_date, phone } }) => ({ national_id, birth_date, phone }),
    before: 'age',
  },
  { title: 'POST /v1/auth/otp/send', body: ({ person: { phone } }) => ({ phone }) },
  { title: 'POST /v1/auth/otp/verify', body: ({ person: { phone }, code }) => ({ phone, code: code() }) },
  {
    title: 'POST /v1/buyer/links/find',
    body: ({ person: { national_id, birth_date } }) => ({ national_id, birth_date }),
  },
  { title: 'DELETE /v1/users/{id}', target: userPath },
  {
    title: 'DELETE /v1/buyer/links/{id}',
    target: ({ linkId }) => `/v1/buyer/links/${linkId}`,
    before: 'link',
  },
  { title: 'GET /v1/events' },
  { title: 'GET /v1/key' },
  { title: 'GET /v1/key/usage' },
  { title: 'POST /v1/key/secrets', body: () => ({ grace_hours: 24 }) },
  { title: 'GET /.well-known/jwks.json' },
  { title: 'GET /.well-known/openid-configuration' },
  { title: 'GET /v1/openapi.json' },
  { title: 'GET /docs' },
  { title: 'GET /docs/{guide+}', target: () => '/docs/quick-start' },
];

/** Every operation, in an order in which each one finds what those before it have stored. */
export const OPERATIONS: readonly Operation[] = [authorizer, ...REQUESTS.map(operationOf)];
