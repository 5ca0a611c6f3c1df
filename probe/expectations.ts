/** Requests to a running service and what they must get: `npm run smoke` makes all of them, the canary some, and `npm run demo` prints the calls. */
import { createPublicKey, type JsonWebKey, verify } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { PROBLEMS, type ProblemCode } from '#shared/problems.ts';
import { testNationalId } from '#shared/providers/test-identities.ts';
import { completeNationalId } from '#shared/values/national-id.ts';
import { type Call, ExpectationFailed, type Reply } from './call.ts';

/** The longest time until all of API Gateway has a new key, and the pause between two attempts. */
const KEY_WITHIN_MS = 60_000;
const PAUSE_MS = 1000;

/**
 * The number of test people. A run takes one of them at random: then no phone reaches the limits of its sends in 24 hours, two runs
 * within 60 seconds hardly ever meet, and the table holds no more than 1,000 registrations and users of the canary.
 */
export const TEST_PEOPLE = 1_000;

/** Returns a person whom the sandbox accepts, by a number from 0 to 999. */
export const testPersonOf = (serial: number) => {
  const digits = String(serial).padStart(3, '0');
  return {
    national_id: completeNationalId(`999700${digits}`),
    birth_date: '1370/1/15',
    phone: `09990000${digits}`,
    display_name: 'Test person',
  };
};

export type TestPerson = ReturnType<typeof testPersonOf>;

/** The name of a key: `shop` signs buyers in, reads and writes users, `reader` reads them. */
export type KeyName = 'shop' | 'reader';

/** What a run uses, and what a request leaves for the later ones. */
export interface Run {
  readonly call: Call;
  readonly keys: Readonly<Record<KeyName, string>>;
  readonly person: TestPerson;
  /** Whether a run before may have linked the person. */
  readonly mayBeLinked: boolean;
  /** Revokes the key of the shop. */
  revoke(): Promise<void>;
  userId?: string;
}

/** A request and the response that it must get. */
interface Expectation {
  /** Method and path. `{id}` stands for the user that a request before linked, `…` for the phone of the person. */
  readonly request: string;
  /** What the title says about the request besides. */
  readonly detail?: string;
  readonly key?: KeyName;
  readonly body?: (run: Run) => object;
  /** What is done before the request. */
  readonly before?: (run: Run) => Promise<unknown>;
  /** The status of the response, or the code of its problem. */
  readonly expects: number | ProblemCode;
  /** The headers of the response besides X-Request-Id. */
  readonly headers?: readonly string[];
  /** Returns what is wrong with a response that is no problem. */
  readonly fault?: (body: Reply['body'], run: Run, contentType: string | null) => Fault | Promise<Fault>;
  /** The canary runs it too, with a key of its own. */
  readonly byCanary?: true;
  /** An emulator has no gateway responses and no authorizer flush. */
  readonly needsGateway?: true;
}

type Fault = string | false;

/** What a stage must have for a request. `person`: the sandbox, since a person is signed in and linked. */
export type Need = 'nothing' | 'key' | 'person' | 'revocation';

/** Waits until the service accepts the new keys. */
const untilAccepted = ({ call, keys }: Run): Promise<unknown> => {
  const deadlineMs = performance.now() + KEY_WITHIN_MS;
  const accepted = async (key: string): Promise<void> => {
    while ((await call('/v1/key', { key })).status === 401) {
      if (performance.now() > deadlineMs)
        throw new ExpectationFailed(`status 401 for ${KEY_WITHIN_MS / 1000} s`);
      await pause(PAUSE_MS);
    }
  };
  return Promise.all(Object.values(keys).map(accepted));
};

const decoded = (part = ''): Readonly<Record<string, unknown>> =>
  JSON.parse(Buffer.from(part, 'base64url').toString());

/** Returns what is wrong with the token of a response: its signature by the published keys, or its phone. */
const tokenFault = async (body: Reply['body'], { call, person }: Run): Promise<Fault> => {
  const [header, payload, signature = ''] = String(body?.access_token).split('.');
  const published: readonly JsonWebKey[] = (await call('/.well-known/jwks.json')).body?.keys ?? [];
  const jwk = published.find(({ kid }) => kid === decoded(header).kid);
  if (jwk === undefined) return 'the key of the token is not published';
  const key = { key: createPublicKey({ key: jwk, format: 'jwk' }), dsaEncoding: 'ieee-p1363' } as const;
  const signed = Buffer.from(`${header}.${payload}`);
  if (!verify('sha256', signed, key, Buffer.from(signature, 'base64url'))) {
    return 'the signature of the token is not valid';
  }
  return decoded(payload).phone_number !== `+98${person.phone.slice(1)}` && 'the token is for another phone';
};

/** The code of the sandbox: the last six digits of the phone. */
const codeOf = (phone: string): string => phone.slice(-6);

const wrongCodeOf = (phone: string): string =>
  codeOf(phone).replace(/.$/, (digit) => String((Number(digit) + 1) % 10));

type Request = Pick<Expectation, 'request' | 'key' | 'body'>;

const SEND: Request = {
  request: 'POST /v1/auth/otp/send',
  key: 'shop',
  body: ({ person: { phone } }) => ({ phone }),
};
const VERIFY: Request = {
  request: 'POST /v1/auth/otp/verify',
  key: 'shop',
  body: ({ person: { phone } }) => ({ phone, code: codeOf(phone) }),
};
const LINK: Request = { request: 'POST /v1/users', key: 'shop', body: ({ person }) => person };
const READ: Request = { request: 'GET /v1/users/{id}', key: 'shop' };

/** In the order in which they run. */
const EXPECTATIONS: Readonly<Record<Need, readonly Expectation[]>> = {
  nothing: [
    {
      request: 'GET /.well-known/jwks.json',
      expects: 200,
      headers: ['cache-control'],
      fault: (body) =>
        (body?.keys?.[0]?.alg !== 'ES256' || body.keys[0].kid === undefined) && 'the body has no ES256 key',
      byCanary: true,
    },
    {
      request: 'GET /.well-known/openid-configuration',
      expects: 200,
      fault: (body) =>
        !String(body?.jwks_uri).endsWith('/.well-known/jwks.json') && `jwks_uri is ${body?.jwks_uri}`,
    },
    {
      request: 'GET /v1/openapi.json',
      expects: 200,
      fault: (body) => body?.paths?.['/v1/users'] === undefined && 'the document has no path /v1/users',
    },
    {
      request: 'GET /docs',
      expects: 200,
      fault: (_body, _run, type) => !type?.startsWith('text/html') && `the Content-Type is ${type}`,
    },
    { request: 'GET /v1/users', detail: 'without a key', expects: 'invalid_api_key', needsGateway: true },
    { request: 'GET /v1/nothing', expects: 'not_found', needsGateway: true },
  ],
  key: [
    { request: 'GET /v1/key', detail: 'with a new key', before: untilAccepted, key: 'shop', expects: 200 },
    {
      request: 'GET /v1/users?page_size=1',
      key: 'reader',
      expects: 200,
      headers: ['ratelimit', 'ratelimit-policy', 'cache-control'],
      fault: (body) => !Array.isArray(body?.data) && 'the body has no list "data"',
      byCanary: true,
    },
    { request: 'GET /v1/users?page=0', key: 'shop', expects: 'validation_failed' },
    { request: 'GET /v1/users/usr_unknown', key: 'shop', expects: 'user_not_found' },
    {
      ...LINK,
      detail: 'with a read-only key',
      key: 'reader',
      body: () => ({}),
      expects: 'insufficient_scope',
      needsGateway: true,
    },
  ],
  person: [
    { ...SEND, expects: 202, byCanary: true },
    { ...SEND, detail: 'again at once', expects: 'resend_too_soon' },
    {
      ...VERIFY,
      detail: 'with a wrong code',
      body: ({ person: { phone } }) => ({ phone, code: wrongCodeOf(phone) }),
      expects: 'code_rejected',
    },
    { ...VERIFY, expects: 200, fault: tokenFault, byCanary: true },
    {
      ...LINK,
      expects: 201,
      fault: (body, run) => {
        run.userId = body?.id;
        return typeof body?.id !== 'string' && 'the body has no id';
      },
      byCanary: true,
    },
    { ...LINK, detail: 'again', expects: 200 },
    {
      ...LINK,
      detail: 'with another birth date',
      body: ({ person }) => ({ ...person, birth_date: '1350/1/1' }),
      expects: 'user_conflict',
    },
    {
      ...LINK,
      detail: 'of an unknown person',
      body: ({ person }) => ({ ...person, national_id: testNationalId('not_found') }),
      expects: 'identity_mismatch',
    },
    {
      request: 'GET /v1/users?phone=…',
      key: 'shop',
      expects: 200,
      fault: (body, { userId }) =>
        !body?.data?.some(({ id }: { id: string }) => id === userId) && 'the user is not in the list',
    },
    { ...READ, expects: 200 },
    {
      request: 'POST /v1/users/{id}/checks',
      key: 'shop',
      body: ({ person: { display_name: _, ...checked } }) => checked,
      expects: 200,
      byCanary: true,
    },
    // Not by the canary: the tombstones of its removals would stay for ever, 288 a day.
    { request: 'DELETE /v1/users/{id}', key: 'shop', expects: 204 },
    { ...READ, detail: 'of a removed user', expects: 'user_not_found' },
  ],
  revocation: [
    {
      // No request with the key of the shop can come later.
      request: 'GET /v1/users',
      detail: 'with a revoked key',
      before: ({ revoke }) => revoke(),
      key: 'shop',
      expects: 'invalid_api_key',
      needsGateway: true,
    },
  ],
};

const faultOf = async (
  { status, headers, body }: Reply,
  expectation: Expectation,
  run: Run,
): Promise<Fault> => {
  const { expects } = expectation;
  const expected = typeof expects === 'number' ? expects : PROBLEMS[expects].status;
  const isRepeatedLink = run.mayBeLinked && expected === 201 && status === 200;
  if (status !== expected && !isRepeatedLink) {
    const id = headers.get('x-request-id') ?? 'missing';
    return `expected status ${expected}, got status ${status}, request id ${id}`;
  }
  const missing = ['x-request-id', ...(expectation.headers ?? [])].filter((name) => !headers.has(name));
  if (missing.length > 0) return `headers are missing: ${missing.join(', ')}`;
  const type = headers.get('content-type');
  if (typeof expects === 'number') return (await expectation.fault?.(body, run, type)) ?? false;
  if (type !== 'application/problem+json') return `the Content-Type is ${type}`;
  return body?.code !== expects && `expected the code ${expects}, got ${body?.code}`;
};

/** Throws ExpectationFailed with what was found, if the response is not as expected. */
const runExpectation = async (expectation: Expectation, run: Run): Promise<void> => {
  const { call, keys, person, userId = '' } = run;
  await expectation.before?.(run);
  const [method = '', path = ''] = expectation.request.split(' ');
  if (path.includes('{id}') && userId === '') throw new ExpectationFailed('no user was linked');
  const reply = await call(path.replace('{id}', userId).replace('…', person.phone), {
    method,
    ...(expectation.key && { key: keys[expectation.key] }),
    ...(expectation.body && { body: expectation.body(run) }),
  });
  const fault = await faultOf(reply, expectation, run);
  if (fault) throw new ExpectationFailed(fault);
};

/** Returns the expectations with these needs. A title is a request and what it must get: `GET /v1/nothing is 404 not_found`. */
export const expectationsFor = (needs: readonly Need[]) =>
  needs
    .flatMap((need) => EXPECTATIONS[need])
    .map((expectation) => {
      const { request, detail, expects } = expectation;
      const response = typeof expects === 'number' ? expects : `${PROBLEMS[expects].status} ${expects}`;
      const title = `${detail === undefined ? request : `${request} ${detail}`} is ${response}`;
      return { ...expectation, title, run: (run: Run) => runExpectation(expectation, run) };
    });
