import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import type { APIGatewayRequestAuthorizerEvent, Context } from 'aws-lambda';
import { AUTHORIZER_WRITES } from '#shared/api-keys/authorizer-permissions.ts';
import { hashApiKey, newApiKey } from '#shared/api-keys/format.ts';
import type { LambdaHandler } from '#shared/http/endpoint.ts';
import { redirectLog } from '#shared/log.ts';
import { permissionsOf } from '#shared/route.ts';
import { allRoutes, type RouteName, routes } from '#shared/routes.ts';
import { secretKey, sellerKey } from '#shared/table/keys.ts';
import { newPerson } from '#test/scenarios/people.ts';
import { type EmbeddedTable, startEmbeddedTable } from '#test/table/embedded-table.ts';
import { type Simulators, startSimulators } from '../../local/simulators/server.ts';
import { gatewayEvent, type Sent } from './gateway-event.ts';
import { startRecordingTable } from './recording-table.ts';

/**
 * No emulator checks grants, so a missing grant would fail on AWS only. Here the functions run with the bindings that they have in
 * Lambda, on the embedded database behind a recorder. The recorded requests must equal the grants of the row.
 */
let folder: string;
let table: EmbeddedTable;
let recorder: Awaited<ReturnType<typeof startRecordingTable>>;
let simulators: Simulators;
let restoreLog: () => void;

const ENVIRONMENT_BEFORE = { ...process.env };

const file = async (name: string, text: string): Promise<string> => {
  await writeFile(join(folder, name), text);
  return `file:${join(folder, name)}`;
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'buyer-linking-actions-'));
  [table, simulators] = await Promise.all([startEmbeddedTable(), startSimulators()]);
  recorder = await startRecordingTable(table.endpoint);
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  Object.assign(process.env, {
    TABLE_NAME: table.name,
    DYNAMODB_ENDPOINT: recorder.endpoint,
    // A hash secret in the middle of a rotation: a link then also checks the person under the older key.
    HASH_SECRET: await file('ring', JSON.stringify({ current: 'n'.repeat(40), previous: ['o'.repeat(40)] })),
    PROVIDER_SECRET: await file('providers', JSON.stringify(simulators.providerSecret)),
    IDENTITY_PROVIDERS: 'jibit',
    SMS_PROVIDERS: 'kavenegar',
    SIGNING_KEYS: await file('key.pem', privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()),
    TOKEN_ISSUER: 'https://issuer.example',
    KEY_PREFIX: 'blk_test_',
    OTP_ACCESS: 'api-key',
  });
  restoreLog = redirectLog(() => {});
  await table.client.send(
    new PutCommand({ TableName: table.name, Item: { ...sellerKey('sel_test'), user_count: 0 } }),
  );
}, 30_000);

afterAll(async () => {
  restoreLog();
  process.env = ENVIRONMENT_BEFORE;
  await Promise.all([recorder.close(), simulators.close(), table.stop()]);
  await rm(folder, { recursive: true });
});

const context = { getRemainingTimeInMillis: () => 20_000 } as Context;

/** Calls a function as Lambda does. */
const call = async (name: string, sent: Sent = {}) => {
  const { handler } = (await import(`#functions/${name}.ts`)) as { readonly handler: LambdaHandler };
  const { statusCode, body } = await handler(gatewayEvent(routes[name as RouteName], sent), context);
  return { status: statusCode, body: body === '' ? undefined : JSON.parse(body) };
};

const statusOf = async (name: string, sent: Sent = {}): Promise<number> => (await call(name, sent)).status;

const grantedTo = (name: string): string[] =>
  Object.entries(permissionsOf(routes[name as RouteName]).table ?? {})
    .flatMap(([prefix, actions]) => actions.map((action) => `${action} ${prefix}`))
    .sort();

const APP = { scopes: 'buyers:register' };

/** Sends a code to a phone and returns it. */
const sendCode = async (phone: string): Promise<string | undefined> => {
  expect(await statusOf('send-otp', { body: { phone }, ...APP })).toBe(202);
  return simulators.messages(phone)[0]?.code;
};

/** Returns a person whose phone is a registered buyer. */
const newBuyer = async () => {
  const person = newPerson();
  const code = await sendCode(person.phone);
  expect(await statusOf('verify-otp', { body: { phone: person.phone, code }, ...APP })).toBe(200);
  return person;
};

/** Links a new buyer and returns the path parameters of the user. */
const newUser = async () => {
  const { status, body } = await call('create-user', { body: await newBuyer() });
  expect(status).toBe(201);
  return { pathParameters: { id: body.id } };
};

/** For each row with access to the table: requests that together use every grant of the row. What comes before `recorder.clear()` prepares them. */
const REQUESTS: Readonly<Record<string, () => Promise<void>>> = {
  async 'send-otp'() {
    const { phone } = newPerson();
    expect(await statusOf('send-otp', { body: { phone } })).toBe(202);
    expect(await statusOf('send-otp', { body: { phone } })).toBe(429);
    await simulators.faults.set('kavenegar', 'balance');
    expect(await statusOf('send-otp', { body: { phone: newPerson().phone } })).toBe(503);
    await simulators.faults.set('kavenegar', undefined);
  },
  async 'verify-otp'() {
    const { phone } = newPerson();
    const code = await sendCode(phone);
    recorder.clear();
    expect(await statusOf('verify-otp', { body: { phone, code: '000000' }, ...APP })).toBe(422);
    expect(await statusOf('verify-otp', { body: { phone, code }, ...APP })).toBe(200);
  },
  async 'create-user'() {
    const person = await newBuyer();
    const another = { body: await newBuyer() };
    const third = { body: await newBuyer() };
    recorder.clear();
    expect(await statusOf('create-user', { body: newPerson() })).toBe(404);
    expect(await statusOf('create-user', { body: person })).toBe(201);
    expect(await statusOf('create-user', { body: person })).toBe(200);
    expect(await statusOf('create-user', { body: { ...person, birth_date: '1359/1/1' } })).toBe(409);
    // Of two requests at once, one waits for the check of the other.
    const statuses = await Promise.all([statusOf('create-user', another), statusOf('create-user', another)]);
    expect(statuses.sort()).toEqual([200, 201]);
    // A request that has waited for the result of another reads the limit of failed checks again.
    await simulators.faults.set('jibit', 'undecided');
    expect(await Promise.all([statusOf('create-user', third), statusOf('create-user', third)])).toEqual([
      503, 503,
    ]);
    await simulators.faults.set('jibit', undefined);
  },
  async 'list-users'() {
    expect(await statusOf('list-users')).toBe(200);
    expect(await statusOf('list-users', { query: { phone: [newPerson().phone] } })).toBe(200);
  },
  async 'get-user'() {
    const user = await newUser();
    recorder.clear();
    expect(await statusOf('get-user', user)).toBe(200);
  },
  async 'delete-user'() {
    const user = await newUser();
    recorder.clear();
    expect(await statusOf('delete-user', user)).toBe(204);
    expect(await statusOf('delete-user', user)).toBe(204);
  },
};

describe('the requests of a function to the table', () => {
  const rows = allRoutes.filter((route) => permissionsOf(route).table !== undefined);

  test.each(rows.map(({ name }) => name))(
    'of %s use every grant of its row and nothing else',
    async (name) => {
      recorder.clear();
      await REQUESTS[name]?.();
      expect(recorder.recorded()).toEqual(grantedTo(name));
    },
  );

  test('of the authorizer read and write key secrets only', async () => {
    const key = newApiKey('blk_test_');
    await table.client.send(
      new PutCommand({
        TableName: table.name,
        Item: {
          ...secretKey(hashApiKey(key)),
          seller_id: 'sel_test',
          key_id: 'key_test',
          scopes: ['users:read'],
          plan: 'free',
          usage_id: 'u'.repeat(40),
          status: 'active',
          seller_status: 'active',
        },
      }),
    );
    recorder.clear();
    const { handler } = await import('#functions/authorizer.ts');
    const event = {
      methodArn: 'arn:aws:execute-api:us-east-1:000000000000:api/dev/GET/v1/users',
      headers: { 'X-Api-Key': key },
      requestContext: { requestId: 'request' },
    };
    await handler(event as unknown as APIGatewayRequestAuthorizerEvent);
    const { action, partitionKeyPrefix } = AUTHORIZER_WRITES;
    expect(recorder.recorded()).toEqual(['GetItem SECRET#', `${action} ${partitionKeyPrefix}`]);
  });
});
