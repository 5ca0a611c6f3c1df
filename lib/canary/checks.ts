/** The checks of a running service: `npm run smoke` runs all of them, the canary some, and `npm run demo` prints their calls. */
import { createPublicKey, type JsonWebKey, verify } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { testNationalId } from '#shared/providers/test-identities.ts';
import { completeNationalId } from '#shared/values/national-id.ts';
import { type Call, expectProblem, expectStatus, expectThat } from './call.ts';

/** The longest time until all of API Gateway has a new key, and the pause between two attempts. */
const KEY_WITHIN_MS = 60_000;
const PAUSE_MS = 1000;

/**
 * The number of test people. A run takes one of them at random: then no phone reaches the limits of its sends in 24 hours, two runs
 * within 60 seconds hardly ever meet, and the table holds no more than 1,000 registrations of the canary.
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

/** The name of a key: `shop` reads and writes users, `reader` reads them, `app` is that of the buyer app. */
export type KeyName = 'shop' | 'reader' | 'app';

/** What a run uses, and what a check leaves for the later ones. */
export interface Run {
  readonly call: Call;
  readonly keys: Readonly<Record<KeyName, string>>;
  readonly person: TestPerson;
  /** Whether a run before may have left the link of the person behind. */
  readonly mayBeLinked: boolean;
  /** Revokes the key of the shop. */
  revoke(): Promise<void>;
  userId?: string;
}

export interface Check {
  readonly title: string;
  /** `person`: only where the providers are the sandbox, since it signs a person in and links them. */
  readonly needs: 'nothing' | 'key' | 'person' | 'revocation';
  /** The canary runs it too, with a key of its own. */
  readonly byCanary?: true;
  /** An emulator has no gateway responses and no authorizer flush. */
  readonly needsGateway?: true;
  run(run: Run): Promise<void>;
}

/** Waits until the service accepts a new key, or refuses only its scope. */
const untilAccepted = async (call: Call, key: string): Promise<void> => {
  const deadlineMs = performance.now() + KEY_WITHIN_MS;
  while ((await call('/v1/users', { key })).status === 401) {
    expectThat(performance.now() < deadlineMs, `status 401 for ${KEY_WITHIN_MS / 1000} s`);
    await pause(PAUSE_MS);
  }
};

const decoded = (part = ''): Readonly<Record<string, unknown>> =>
  JSON.parse(Buffer.from(part, 'base64url').toString());

/** Checks the signature of a token with the published keys, and its phone. */
const expectToken = (token: unknown, keys: readonly JsonWebKey[], phone: string): void => {
  const [header, payload, signature = ''] = String(token).split('.');
  const jwk = keys.find(({ kid }) => kid === decoded(header).kid);
  expectThat(jwk !== undefined, 'the key of the token is not published');
  const key = {
    key: createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' }),
    dsaEncoding: 'ieee-p1363',
  } as const;
  const isValid = verify(
    'sha256',
    Buffer.from(`${header}.${payload}`),
    key,
    Buffer.from(signature, 'base64url'),
  );
  expectThat(isValid, 'the signature of the token is not valid');
  expectThat(decoded(payload).phone_number === `+98${phone.slice(1)}`, 'the token is for another phone');
};

/** The code of the sandbox: the last six digits of the phone. */
const codeOf = (phone: string): string => phone.slice(-6);

const verifyCode = ({ call, keys, person: { phone } }: Run, code: string) =>
  call('/v1/auth/otp/verify', { key: keys.app, body: { phone, code } });

const send = ({ call, keys, person: { phone } }: Run) =>
  call('/v1/auth/otp/send', { key: keys.app, body: { phone } });

const link = ({ call, keys, person }: Run, changes: object = {}) =>
  call('/v1/users', { key: keys.shop, body: { ...person, ...changes } });

const user = ({ call, keys, userId }: Run, method = 'GET') => {
  expectThat(userId !== undefined, 'no user was linked');
  return call(`/v1/users/${userId}`, { method, key: keys.shop });
};

/** In the order in which they run. */
export const CHECKS: readonly Check[] = [
  {
    title: 'GET /.well-known/jwks.json returns a signing key',
    needs: 'nothing',
    byCanary: true,
    async run({ call }) {
      const reply = await call('/.well-known/jwks.json');
      expectStatus(reply, 200, 'cache-control');
      const key = reply.body?.keys?.[0];
      expectThat(key?.alg === 'ES256' && key.kid !== undefined, 'the body has no ES256 key');
    },
  },
  {
    title: 'GET /.well-known/openid-configuration names the keys',
    needs: 'nothing',
    async run({ call }) {
      const reply = await call('/.well-known/openid-configuration');
      expectStatus(reply, 200);
      const uri = reply.body?.jwks_uri;
      expectThat(String(uri).endsWith('/.well-known/jwks.json'), `jwks_uri is ${uri}`);
    },
  },
  {
    title: 'GET /v1/openapi.json returns the OpenAPI document',
    needs: 'nothing',
    async run({ call }) {
      const reply = await call('/v1/openapi.json');
      expectStatus(reply, 200);
      expectThat(reply.body?.paths?.['/v1/users'] !== undefined, 'the document has no path /v1/users');
    },
  },
  {
    title: 'GET /docs returns the reference page',
    needs: 'nothing',
    async run({ call }) {
      const reply = await call('/docs');
      expectStatus(reply, 200);
      const type = reply.headers.get('content-type');
      expectThat(String(type).startsWith('text/html'), `the Content-Type is ${type}`);
    },
  },
  {
    title: 'GET /v1/users without a key is 401 invalid_api_key',
    needs: 'nothing',
    needsGateway: true,
    run: async ({ call }) => expectProblem(await call('/v1/users'), 'invalid_api_key'),
  },
  {
    title: 'GET /v1/nothing is 404 not_found',
    needs: 'nothing',
    needsGateway: true,
    run: async ({ call }) => expectProblem(await call('/v1/nothing'), 'not_found'),
  },
  {
    title: 'the new keys are accepted',
    needs: 'key',
    async run({ call, keys }) {
      await Promise.all(Object.values(keys).map((key) => untilAccepted(call, key)));
    },
  },
  {
    title: 'GET /v1/users is 200, with its headers',
    needs: 'key',
    byCanary: true,
    async run({ call, keys }) {
      const reply = await call('/v1/users?page_size=1', { key: keys.reader });
      expectStatus(reply, 200, 'ratelimit', 'ratelimit-policy', 'cache-control');
      expectThat(Array.isArray(reply.body?.data), 'the body has no list "data"');
    },
  },
  {
    title: 'GET /v1/users?page=0 is 422 validation_failed',
    needs: 'key',
    run: async ({ call, keys }) =>
      expectProblem(await call('/v1/users?page=0', { key: keys.shop }), 'validation_failed'),
  },
  {
    title: 'GET /v1/users/usr_unknown is 404 user_not_found',
    needs: 'key',
    run: async ({ call, keys }) =>
      expectProblem(await call('/v1/users/usr_unknown', { key: keys.shop }), 'user_not_found'),
  },
  {
    title: 'POST /v1/users with a read-only key is 403 insufficient_scope',
    needs: 'key',
    needsGateway: true,
    run: async ({ call, keys }) =>
      expectProblem(await call('/v1/users', { key: keys.reader, body: {} }), 'insufficient_scope'),
  },
  {
    title: 'POST /v1/auth/otp/send is 202',
    needs: 'person',
    byCanary: true,
    run: async (run) => expectStatus(await send(run), 202),
  },
  {
    title: 'POST /v1/auth/otp/send again at once is 429 resend_too_soon',
    needs: 'person',
    run: async (run) => expectProblem(await send(run), 'resend_too_soon'),
  },
  {
    title: 'POST /v1/auth/otp/verify with a wrong code is 422 code_rejected',
    needs: 'person',
    async run(run) {
      const wrong = codeOf(run.person.phone).replace(/.$/, (digit) => String((Number(digit) + 1) % 10));
      expectProblem(await verifyCode(run, wrong), 'code_rejected');
    },
  },
  {
    title: 'POST /v1/auth/otp/verify is 200, with a token that verifies',
    needs: 'person',
    byCanary: true,
    async run(run) {
      const { phone } = run.person;
      const reply = await verifyCode(run, codeOf(phone));
      expectStatus(reply, 200);
      const { body } = await run.call('/.well-known/jwks.json');
      expectToken(reply.body?.access_token, body?.keys ?? [], phone);
    },
  },
  {
    title: 'POST /v1/users is 201',
    needs: 'person',
    byCanary: true,
    async run(run) {
      const reply = await link(run);
      expectStatus(reply, run.mayBeLinked && reply.status === 200 ? 200 : 201);
      expectThat(typeof reply.body?.id === 'string', 'the body has no id');
      run.userId = reply.body.id;
    },
  },
  {
    title: 'POST /v1/users again is 200',
    needs: 'person',
    run: async (run) => expectStatus(await link(run), 200),
  },
  {
    title: 'POST /v1/users with another birth date is 409 user_conflict',
    needs: 'person',
    run: async (run) => expectProblem(await link(run, { birth_date: '1350/1/1' }), 'user_conflict'),
  },
  {
    title: 'POST /v1/users of a person whom no registry knows is 422',
    needs: 'person',
    run: async (run) =>
      expectProblem(await link(run, { national_id: testNationalId('not_found') }), 'identity_mismatch'),
  },
  {
    title: 'GET /v1/users?phone=… finds the user',
    needs: 'person',
    async run({ call, keys, person, userId }) {
      const reply = await call(`/v1/users?phone=${person.phone}`, { key: keys.shop });
      expectStatus(reply, 200);
      const ids = reply.body?.data?.map(({ id }: { id: string }) => id);
      expectThat(userId !== undefined && ids?.includes(userId), 'the user is not in the list');
    },
  },
  {
    title: 'GET /v1/users/{id} is 200',
    needs: 'person',
    run: async (run) => expectStatus(await user(run), 200),
  },
  {
    title: 'DELETE /v1/users/{id} is 204',
    needs: 'person',
    byCanary: true,
    run: async (run) => expectStatus(await user(run, 'DELETE'), 204),
  },
  {
    title: 'GET /v1/users/{id} of a removed user is 404 user_not_found',
    needs: 'person',
    run: async (run) => expectProblem(await user(run), 'user_not_found'),
  },
  {
    // No check with the key of the shop can come later.
    title: 'GET /v1/users with a revoked key is 401 invalid_api_key',
    needs: 'revocation',
    needsGateway: true,
    async run({ call, keys, revoke }) {
      await revoke();
      expectProblem(await call('/v1/users', { key: keys.shop }), 'invalid_api_key');
    },
  },
];
