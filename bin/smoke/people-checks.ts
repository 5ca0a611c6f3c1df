import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import type { newDemoPerson } from '#local/demo/people.ts';
import { testNationalId } from '#shared/providers/test-identities.ts';
import type { Call } from './call.ts';
import { type Check, ensure, expectProblem, expectStatus } from './check.ts';
import { CheckFailed } from './check-failed.ts';
import type { TestKeys } from './test-keys.ts';

/** A generated person, and where the code that the service made for the phone can be read. */
export interface TestPerson {
  readonly person: ReturnType<typeof newDemoPerson>;
  readonly codeOf: (phone: string) => Promise<string>;
}

const otherCode = (code: string): string =>
  String((Number(code) + 1) % 10 ** code.length).padStart(code.length, '0');

/** Returns the checks of one test person, from the sign-in to the removal. Each one continues the state of those before. */
export const peopleChecks = (call: Call, { secrets }: TestKeys, test: TestPerson): readonly Check[] => {
  const { person } = test;
  let userId: string | undefined;
  const verify = (code: string) =>
    call('/v1/auth/otp/verify', { key: secrets.app, body: { phone: person.phone, code } });
  const user = (method = 'GET') => {
    if (userId === undefined) throw new CheckFailed('no user was linked');
    return call(`/v1/users/${userId}`, { method, key: secrets.shop });
  };

  return [
    {
      title: 'POST /v1/auth/otp/send is 202',
      run: async () =>
        expectStatus(
          await call('/v1/auth/otp/send', { key: secrets.app, body: { phone: person.phone } }),
          202,
        ),
    },
    {
      title: 'POST /v1/auth/otp/verify with a wrong code is 422 code_rejected',
      run: async () =>
        expectProblem(await verify(otherCode(await test.codeOf(person.phone))), 'code_rejected'),
    },
    {
      title: 'POST /v1/auth/otp/verify is 200, with a token that verifies',
      async run() {
        const reply = await verify(await test.codeOf(person.phone));
        expectStatus(reply, 200);
        const { access_token } = reply.json() as { access_token: string };
        const keys = (await call('/.well-known/jwks.json')).json() as JSONWebKeySet;
        const { payload } = await jwtVerify(access_token, createLocalJWKSet(keys)).catch(() => {
          throw new CheckFailed('the signature of the token is not valid');
        });
        ensure(payload.phone_number === person.phone, 'the token is for another phone');
      },
    },
    {
      title: 'POST /v1/users is 201',
      async run() {
        const reply = await call('/v1/users', { key: secrets.shop, body: person });
        expectStatus(reply, 201);
        userId = (reply.json() as { id: string }).id;
      },
    },
    {
      title: 'POST /v1/users again is 200',
      run: async () => expectStatus(await call('/v1/users', { key: secrets.shop, body: person }), 200),
    },
    {
      title: 'POST /v1/users of a person whom no registry knows is 422',
      async run() {
        const body = { ...person, national_id: testNationalId('not_found') };
        expectProblem(await call('/v1/users', { key: secrets.shop, body }), 'identity_mismatch');
      },
    },
    {
      title: 'GET /v1/users?phone=… finds the user',
      async run() {
        const reply = await call(`/v1/users?phone=${encodeURIComponent(person.phone)}`, {
          key: secrets.shop,
        });
        expectStatus(reply, 200);
        const { data } = reply.json() as { data: { id: string }[] };
        ensure(
          data.some(({ id }) => id === userId),
          'the user is not in the list',
        );
      },
    },
    { title: 'GET /v1/users/{id} is 200', run: async () => expectStatus(await user(), 200) },
    { title: 'DELETE /v1/users/{id} is 204', run: async () => expectStatus(await user('DELETE'), 204) },
    {
      title: 'GET /v1/users/{id} of a removed user is 404 user_not_found',
      run: async () => expectProblem(await user(), 'user_not_found'),
    },
  ];
};
