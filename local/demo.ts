/** `npm run demo`: runs the whole flow against the running service, with newly generated people each time. Exits 0 if every response is as expected. */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { testNationalId } from '#shared/providers/test-identities.ts';
import { type DemoClient, demoClient, readDemo } from './demo/client.ts';
import { newDemoPerson } from './demo/people.ts';
import type { Demo } from './service.ts';
import { StartupError } from './startup-error.ts';

const DEFAULT_FOLDER = fileURLToPath(new URL('../.local', import.meta.url));

const signIn = async ({ step, latestCode }: DemoClient, { keys }: Demo, phone: string): Promise<string> => {
  await step('The buyer app has a code sent to the buyer', {
    path: '/v1/auth/otp/send',
    key: keys.app,
    body: { phone },
    expect: 202,
  });
  const code = await latestCode(phone);
  const wrong = String((Number(code) + 1) % 1_000_000).padStart(6, '0');
  await step('A second code within the cool-down is refused', {
    path: '/v1/auth/otp/send',
    key: keys.app,
    body: { phone },
    expect: 'resend_too_soon',
  });
  await step('A wrong code is refused', {
    path: '/v1/auth/otp/verify',
    key: keys.app,
    body: { phone, code: wrong },
    expect: 'code_rejected',
  });
  const { access_token } = await step<{ access_token: string }>(
    'The right code signs the buyer in and registers the buyer',
    {
      path: '/v1/auth/otp/verify',
      key: keys.app,
      body: { phone, code },
      expect: 200,
    },
  );
  await step('A code works once', {
    path: '/v1/auth/otp/verify',
    key: keys.app,
    body: { phone, code },
    expect: 'code_rejected',
  });
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

const link = async ({ step }: DemoClient, { keys }: Demo, buyer: ReturnType<typeof newDemoPerson>) => {
  const path = '/v1/users';
  const user = await step<{ id: string }>('A seller links the buyer', {
    path,
    key: keys.free,
    body: buyer,
    expect: 201,
  });
  await step('The same request again returns the existing user, so it is safe to repeat', {
    path,
    key: keys.free,
    body: buyer,
    expect: 200,
  });
  await step('The same person with another birth date is a conflict', {
    path,
    key: keys.free,
    body: { ...buyer, birth_date: '1350/1/1' },
    expect: 'user_conflict',
  });
  await step('The seller lists its users', {
    path: '/v1/users?page=1&page_size=2',
    key: keys.free,
    expect: 200,
  });
  return user.id;
};

const readAndRemove = async (
  { step }: DemoClient,
  { keys, other_seller }: Demo,
  user: { readonly id: string; readonly phone: string },
) => {
  const path = `/v1/users/${user.id}`;
  await step('The seller finds its user by phone', {
    path: `/v1/users?phone=${encodeURIComponent(user.phone)}`,
    key: keys.free,
    expect: 200,
  });
  await step('The seller reads the user by id', { path, key: keys.free, expect: 200 });
  await step('Another seller has no user with this id', {
    path,
    key: other_seller.key,
    expect: 'user_not_found',
  });
  await step('The seller removes the user', { method: 'DELETE', path, key: keys.free, expect: 204 });
  await step('The removed user is gone', { path, key: keys.free, expect: 'user_not_found' });
};

/** The simulated registry has test identities for each of its responses: see docs/test-identities.md. */
const verdicts = async ({ step }: DemoClient, { keys }: Demo, buyer: ReturnType<typeof newDemoPerson>) => {
  const path = '/v1/users';
  await step('A person whom the registry does not know is refused', {
    path,
    key: keys.professional,
    body: { ...buyer, national_id: testNationalId('not_found') },
    expect: 'identity_mismatch',
  });
  await step('A person who does not own the phone is refused', {
    path,
    key: keys.professional,
    body: { ...buyer, national_id: testNationalId('not_owner') },
    expect: 'phone_not_owned',
  });
  await step('Without a response of the registry nothing is decided: try again later', {
    path,
    key: keys.professional,
    body: { ...buyer, national_id: testNationalId('quota') },
    expect: 'verification_unavailable',
  });
};

const refusals = async ({ step }: DemoClient, { keys }: Demo) => {
  const path = '/v1/users';
  const stranger = newDemoPerson();
  await step('A request without a key is refused', { path, expect: 'invalid_api_key' });
  await step('A key that may only read cannot link', {
    path,
    key: keys.read_only,
    body: stranger,
    expect: 'insufficient_scope',
  });
  await step('A buyer who never registered cannot be linked', {
    path,
    key: keys.free,
    body: stranger,
    expect: 'buyer_not_registered',
  });
  await step('Every wrong field of a request is named at once', {
    path,
    key: keys.free,
    body: { national_id: '123', phone: 'x', nickname: 'S' },
    expect: 'validation_failed',
  });
  await step('An unknown path is not found', { path: '/v1/buyers', key: keys.free, expect: 'not_found' });
};

const dataFolder = (): string => {
  try {
    return parseArgs({ options: { data: { type: 'string', default: DEFAULT_FOLDER } } }).values.data;
  } catch {
    throw new StartupError('Usage: npm run demo -- [--data <folder of the running service>]');
  }
};

const main = async (): Promise<void> => {
  const demo = await readDemo(dataFolder());
  const client = demoClient(demo);
  const buyer = newDemoPerson();
  await checkToken(client, demo, await signIn(client, demo, buyer.phone));
  const id = await link(client, demo, buyer);
  await verdicts(client, demo, buyer);
  await refusals(client, demo);
  await readAndRemove(client, demo, { id, phone: buyer.phone });
  process.stdout.write('\nEvery response was as expected.\n');
};

main().catch((error: unknown) => {
  process.stderr.write(`\n${error instanceof StartupError ? error.message : (error as Error).stack}\n`);
  process.exitCode = 1;
});
