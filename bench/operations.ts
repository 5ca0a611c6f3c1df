import type { newDemoPerson } from '#test/simulators/people.ts';
import { authorizerEventOf, eventOf, functionOf, type Sender } from './harness.ts';

/** A seller, a person, and what the requests learn from the responses before them. */
export interface Round extends Sender {
  readonly person: ReturnType<typeof newDemoPerson>;
  /** Returns the code that was sent to the phone of `person`. */
  readonly code: () => string;
  /** The user of `person`, once it is linked. */
  userId: string;
  /** The access token of `person`, once its code is verified. */
  token?: string;
  /** The link that the buyer reads and ends. */
  linkId: string;
}

/** An operation as the benchmark of cold starts calls it. */
export interface Operation {
  /** The row of the table of results. */
  readonly title: string;
  /** The name of the function. */
  readonly name: string;
  readonly event: (round: Round) => object;
  /** Before it the last check of the user must be older than the time in which a check is not made again. */
  readonly needsOldCheck?: true;
  /** Made for the operations after it, and not measured. */
  readonly isPreparation?: true;
}

/** A request of an operation. Its title begins with the method and the path. */
interface OperationRequest extends Omit<Operation, 'name' | 'event'> {
  /** The path with its values, if it is not the one in the title. */
  readonly target?: (round: Round) => string;
  readonly body?: (round: Round) => object;
}

const operationOf = ({ title, target, body, ...rest }: OperationRequest): Operation => {
  const [, method = '', path = ''] = /^([A-Z]+) ([^?,]+)/.exec(title) ?? [];
  return {
    ...rest,
    title,
    name: functionOf(method, path),
    event: (round) => eventOf({ method, target: target?.(round) ?? path, body: body?.(round) }, round),
  };
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
    body: ({ person: { display_name: _, ...person } }) => person,
    needsOldCheck: true,
  },
  { title: 'POST /v1/auth/otp/send', body: ({ person: { phone } }) => ({ phone }) },
  { title: 'POST /v1/auth/otp/verify', body: ({ person: { phone }, code }) => ({ phone, code: code() }) },
  {
    title: 'POST /v1/buyer/links/find',
    body: ({ person: { national_id, birth_date } }) => ({ national_id, birth_date }),
  },
  { title: 'DELETE /v1/users/{id}', target: userPath },
  { title: 'POST /v1/users, linked again', body: ({ person }) => person, isPreparation: true },
  { title: 'DELETE /v1/buyer/links/{id}', target: ({ linkId }) => `/v1/buyer/links/${linkId}` },
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
export const OPERATIONS: readonly Operation[] = [
  { title: 'authorizer', name: 'authorizer', event: authorizerEventOf },
  ...REQUESTS.map(operationOf),
];
