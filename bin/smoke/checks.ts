import { setTimeout as pause } from 'node:timers/promises';
import { createLocalJWKSet, jwtVerify } from 'jose';
import type { newDemoPerson } from '#local/demo/people.ts';
import { testNationalId } from '#shared/providers/test-identities.ts';
import { type Call, CheckFailed } from './call.ts';
import { expectProblem, expectStatus, expectThat } from './expect.ts';
import type { Check } from './report.ts';
import type { TestKeys } from './test-keys.ts';

/** The longest time until all of API Gateway has a new key, and the pause between two attempts. */
const KEY_WITHIN_MS = 60_000;
const PAUSE_MS = 1000;

/** An emulator has no gateway responses and no authorizer flush. */
const NEEDS_GATEWAY = { needsGateway: true };

/** What a check uses. */
interface Tools {
  readonly check: Check;
  readonly call: Call;
}

/** A generated person, and where the code that the service made for the phone can be read. */
export interface TestPerson {
  readonly person: ReturnType<typeof newDemoPerson>;
  readonly codeOf: (phone: string) => Promise<string>;
}

/** Makes the checks that need no key. */
export const publicChecks = async ({ check, call }: Tools): Promise<void> => {
  await check('GET /.well-known/jwks.json returns a signing key', async () => {
    const reply = await call('/.well-known/jwks.json');
    expectStatus(reply, 200, 'cache-control');
    const key = reply.body?.keys?.[0];
    expectThat(key?.alg === 'ES256' && key.kid !== undefined, 'the body has no ES256 key');
  });
  await check('GET /.well-known/openid-configuration names the keys', async () => {
    const reply = await call('/.well-known/openid-configuration');
    expectStatus(reply, 200);
    const uri = reply.body?.jwks_uri;
    expectThat(String(uri).endsWith('/.well-known/jwks.json'), `jwks_uri is ${uri}`);
  });
  await check('GET /v1/openapi.json returns the OpenAPI document', async () => {
    const reply = await call('/v1/openapi.json');
    expectStatus(reply, 200);
    expectThat(reply.body?.paths?.['/v1/users'] !== undefined, 'the document has no path /v1/users');
  });
  await check('GET /docs returns the reference page', async () => {
    const reply = await call('/docs');
    expectStatus(reply, 200);
    const type = reply.headers.get('content-type');
    expectThat(String(type).startsWith('text/html'), `the Content-Type is ${type}`);
  });
  await check(
    'GET /v1/users without a key is 401 invalid_api_key',
    async () => expectProblem(await call('/v1/users'), 'invalid_api_key'),
    NEEDS_GATEWAY,
  );
  await check(
    'GET /v1/nothing is 404 not_found',
    async () => expectProblem(await call('/v1/nothing'), 'not_found'),
    NEEDS_GATEWAY,
  );
};

/** Waits until the service accepts a new key, or refuses only its scope. */
const untilAccepted = async (call: Call, key: string): Promise<void> => {
  const deadlineMs = performance.now() + KEY_WITHIN_MS;
  while ((await call('/v1/users', { key })).status === 401) {
    expectThat(performance.now() < deadlineMs, `status 401 for ${KEY_WITHIN_MS / 1000} s`);
    await pause(PAUSE_MS);
  }
};

/** Makes the checks that need keys and no person. */
export const keyChecks = async ({ check, call }: Tools, { secrets }: TestKeys): Promise<void> => {
  await check('the new keys are accepted', async () => {
    await Promise.all(Object.values(secrets).map((key) => untilAccepted(call, key)));
  });
  await check('GET /v1/users is 200, with its headers', async () => {
    const reply = await call('/v1/users', { key: secrets.shop });
    expectStatus(reply, 200, 'ratelimit', 'ratelimit-policy', 'cache-control');
    expectThat(Array.isArray(reply.body?.data), 'the body has no list "data"');
  });
  await check('GET /v1/users?page=0 is 422 validation_failed', async () =>
    expectProblem(await call('/v1/users?page=0', { key: secrets.shop }), 'validation_failed'),
  );
  await check('GET /v1/users/usr_unknown is 404 user_not_found', async () =>
    expectProblem(await call('/v1/users/usr_unknown', { key: secrets.shop }), 'user_not_found'),
  );
  await check(
    'POST /v1/users with a read-only key is 403 insufficient_scope',
    async () =>
      expectProblem(await call('/v1/users', { key: secrets.reader, body: {} }), 'insufficient_scope'),
    NEEDS_GATEWAY,
  );
};

/** Checks that a revoked key is refused. No check with that key can come later. */
export const revocationCheck = ({ check, call }: Tools, { secrets, revoke }: TestKeys): Promise<void> =>
  check(
    'GET /v1/users with a revoked key is 401 invalid_api_key',
    async () => {
      await revoke('shop');
      expectProblem(await call('/v1/users', { key: secrets.shop }), 'invalid_api_key');
    },
    NEEDS_GATEWAY,
  );

const otherCode = (code: string): string =>
  String((Number(code) + 1) % 10 ** code.length).padStart(code.length, '0');

/** Makes the checks of the sign-in of a test person. */
export const signInChecks = async (
  { check, call }: Tools,
  { secrets: { app: key } }: TestKeys,
  { person: { phone }, codeOf }: TestPerson,
): Promise<void> => {
  const verify = (code: string) => call('/v1/auth/otp/verify', { key, body: { phone, code } });

  await check('POST /v1/auth/otp/send is 202', async () =>
    expectStatus(await call('/v1/auth/otp/send', { key, body: { phone } }), 202),
  );
  await check('POST /v1/auth/otp/send again at once is 429 resend_too_soon', async () =>
    expectProblem(await call('/v1/auth/otp/send', { key, body: { phone } }), 'resend_too_soon'),
  );
  await check('POST /v1/auth/otp/verify with a wrong code is 422 code_rejected', async () =>
    expectProblem(await verify(otherCode(await codeOf(phone))), 'code_rejected'),
  );
  await check('POST /v1/auth/otp/verify is 200, with a token that verifies', async () => {
    const reply = await verify(await codeOf(phone));
    expectStatus(reply, 200);
    const keys = (await call('/.well-known/jwks.json')).body;
    const { payload } = await jwtVerify(reply.body.access_token, createLocalJWKSet(keys)).catch(() => {
      throw new CheckFailed('the signature of the token is not valid');
    });
    expectThat(payload.phone_number === phone, 'the token is for another phone');
  });
};

/** Makes the checks of the link of a test person who has signed in, from the link to the removal. */
export const userChecks = async (
  { check, call }: Tools,
  { secrets: { shop: key } }: TestKeys,
  { person }: TestPerson,
): Promise<void> => {
  let userId: string | undefined;
  const user = (method = 'GET') => {
    if (userId === undefined) throw new CheckFailed('no user was linked');
    return call(`/v1/users/${userId}`, { method, key });
  };

  await check('POST /v1/users is 201', async () => {
    const reply = await call('/v1/users', { key, body: person });
    expectStatus(reply, 201);
    userId = reply.body.id;
  });
  await check('POST /v1/users again is 200', async () =>
    expectStatus(await call('/v1/users', { key, body: person }), 200),
  );
  await check('POST /v1/users with another birth date is 409 user_conflict', async () => {
    const body = { ...person, birth_date: '1350/1/1' };
    expectProblem(await call('/v1/users', { key, body }), 'user_conflict');
  });
  await check('POST /v1/users of a person whom no registry knows is 422', async () => {
    const body = { ...person, national_id: testNationalId('not_found') };
    expectProblem(await call('/v1/users', { key, body }), 'identity_mismatch');
  });
  await check('GET /v1/users?phone=… finds the user', async () => {
    const reply = await call(`/v1/users?phone=${encodeURIComponent(person.phone)}`, { key });
    expectStatus(reply, 200);
    const users: readonly { readonly id: string }[] = reply.body.data;
    expectThat(
      users.some(({ id }) => id === userId),
      'the user is not in the list',
    );
  });
  await check('GET /v1/users/{id} is 200', async () => expectStatus(await user(), 200));
  await check('DELETE /v1/users/{id} is 204', async () => expectStatus(await user('DELETE'), 204));
  await check('GET /v1/users/{id} of a removed user is 404 user_not_found', async () =>
    expectProblem(await user(), 'user_not_found'),
  );
};
