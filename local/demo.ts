/** `npm run demo`: runs the whole flow against the running service, with newly generated people each time. Exits 0 if every response is as expected. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { type PersonOutcome, testNationalId } from '#shared/providers/test-identities.ts';
import { type DemoClient, demoClient, NOT_RUNNING } from './demo/client.ts';
import { newDemoPerson } from './demo/people.ts';
import { readIfThere } from './private-file.ts';
import type { Demo } from './service.ts';
import { StartupError } from './startup-error.ts';

const DEFAULT_FOLDER = fileURLToPath(new URL('../.local', import.meta.url));

type Person = ReturnType<typeof newDemoPerson>;

const signIn = async ({ step, latestCode }: DemoClient, { keys }: Demo, phone: string): Promise<string> => {
  const send = { path: '/v1/auth/otp/send', key: keys.app, body: { phone } };
  const verify = (code: string) => ({
    path: '/v1/auth/otp/verify',
    key: keys.app,
    body: { phone, code },
  });
  await step('The buyer app has a code sent to the buyer', send, 202);
  const code = await latestCode(phone);
  const wrong = String((Number(code) + 1) % 1_000_000).padStart(6, '0');
  await step('A second code within the cool-down is refused', send, 'resend_too_soon');
  await step('A wrong code is refused', verify(wrong), 'code_rejected');
  const { access_token } = await step<{ access_token: string }>(
    'The right code signs the buyer in and registers the buyer',
    verify(code),
    200,
  );
  await step('A code works once', verify(code), 'code_rejected');
  return access_token;
};

const checkToken = async ({ note }: DemoClient, { base_url, seller_id }: Demo, token: string) => {
  const keys = createRemoteJWKSet(new URL(`${base_url}/.well-known/jwks.json`));
  const { payload } = await jwtVerify(token, keys, {
    algorithms: ['ES256'],
    issuer: base_url,
    // Without a key (OTP_ACCESS=public) the audience of a token is "public".
    audience: [seller_id, 'public'],
  });
  note(
    'The token verifies against /.well-known/jwks.json with an ordinary JOSE library',
    `sub ${payload.sub}`,
  );
};

const link = async ({ step }: DemoClient, { keys }: Demo, buyer: Person): Promise<string> => {
  const users = { path: '/v1/users', key: keys.free };
  const request = { ...users, body: buyer };
  const { id } = await step<{ id: string }>('A seller links the buyer', request, 201);
  await step('The same request again returns the existing user, so it is safe to repeat', request, 200);
  const olderBuyer = { ...users, body: { ...buyer, birth_date: '1350/1/1' } };
  await step('The same person with another birth date is a conflict', olderBuyer, 'user_conflict');
  await step('The seller lists its users', { ...users, path: '/v1/users?page=1&page_size=2' }, 200);
  return id;
};

/** The simulated registry has test identities for each of its responses: see docs/test-identities.md. */
const verdicts = async ({ step }: DemoClient, { keys }: Demo, buyer: Person) => {
  const linkTo = (person: PersonOutcome) => ({
    path: '/v1/users',
    key: keys.professional,
    body: { ...buyer, national_id: testNationalId(person) },
  });
  await step('A person whom the registry does not know is refused', linkTo('not_found'), 'identity_mismatch');
  await step('A person who does not own the phone is refused', linkTo('not_owner'), 'phone_not_owned');
  await step(
    'Without a response of the registry nothing is decided: try again later',
    linkTo('quota'),
    'verification_unavailable',
  );
};

const refusals = async ({ step }: DemoClient, { keys }: Demo) => {
  const path = '/v1/users';
  const stranger = newDemoPerson();
  const invalid = { national_id: '123', phone: 'x', nickname: 'S' };
  await step('A request without a key is refused', { path }, 'invalid_api_key');
  await step(
    'A key that may only read cannot link',
    { path, key: keys.read_only, body: stranger },
    'insufficient_scope',
  );
  await step(
    'A buyer who never registered cannot be linked',
    { path, key: keys.free, body: stranger },
    'buyer_not_registered',
  );
  await step(
    'Every wrong field of a request is named at once',
    { path, key: keys.free, body: invalid },
    'validation_failed',
  );
  await step('An unknown path is not found', { path: '/v1/buyers', key: keys.free }, 'not_found');
};

const readAndRemove = async (
  { step }: DemoClient,
  { keys, other_seller }: Demo,
  { id, phone }: { readonly id: string; readonly phone: string },
) => {
  const user = { path: `/v1/users/${id}`, key: keys.free };
  const byPhone = { ...user, path: `/v1/users?phone=${encodeURIComponent(phone)}` };
  await step('The seller finds its user by phone', byPhone, 200);
  await step('The seller reads the user by id', user, 200);
  await step('Another seller has no user with this id', { ...user, key: other_seller.key }, 'user_not_found');
  await step('The seller removes the user', { ...user, method: 'DELETE' }, 204);
  await step('The removed user is gone', user, 'user_not_found');
};

/** Reads the URL and the keys of the running service. Throws a StartupError if none runs. */
const readDemo = async (): Promise<Demo> => {
  const text = await readIfThere(join(dataFolder(), 'demo.json'));
  if (text === undefined) throw new StartupError(NOT_RUNNING);
  return JSON.parse(text);
};

const dataFolder = (): string => {
  try {
    return parseArgs({ options: { data: { type: 'string', default: DEFAULT_FOLDER } } }).values.data;
  } catch {
    throw new StartupError('Usage: npm run demo -- [--data <folder of the running service>]');
  }
};

try {
  const demo = await readDemo();
  const client = demoClient(demo);
  const buyer = newDemoPerson();
  await checkToken(client, demo, await signIn(client, demo, buyer.phone));
  const id = await link(client, demo, buyer);
  await verdicts(client, demo, buyer);
  await refusals(client, demo);
  await readAndRemove(client, demo, { id, phone: buyer.phone });
  console.log('\nEvery response was as expected.');
} catch (error) {
  console.error(`\n${error instanceof StartupError ? error.message : (error as Error).stack}`);
  process.exitCode = 1;
}
