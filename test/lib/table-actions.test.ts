import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import type { APIGatewayProxyEvent, APIGatewayRequestAuthorizerEvent, Context } from 'aws-lambda';
import { AUTHORIZER_PERMISSIONS, AUTHORIZER_WRITES } from '#shared/api-keys/authorizer-permissions.ts';
import { hashApiKey, newApiKey } from '#shared/api-keys/format.ts';
import type { LambdaHandler } from '#shared/http/endpoint.ts';
import { redirectLog } from '#shared/log.ts';
import { allRoutes, type RouteName, routes } from '#shared/routes.ts';
import { secretKey, sellerKey } from '#shared/table/keys.ts';
import { newPerson } from '#test/scenarios/people.ts';
import { type EmbeddedTable, startEmbeddedTable } from '#test/table/embedded-table.ts';
import { type Simulators, startSimulators } from '../../local/simulators/server.ts';
import { startRecordingTable } from './recording-table.ts';

/**
 * No emulator checks grants, so a missing one would show on AWS alone. Here the functions run as they are bound in Lambda, on a real
 * table behind a recorder, and what they ask of it is held to what their rows are granted: no more, no less.
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
    // A ring in the middle of a rotation: a link then checks for claims under the older key too.
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

const eventOf = (name: RouteName, body: unknown) =>
  ({
    httpMethod: routes[name].method,
    path: routes[name].path,
    headers: { 'content-type': 'application/json' },
    multiValueQueryStringParameters: null,
    body: body === undefined ? null : JSON.stringify(body),
    isBase64Encoded: false,
    requestContext: {
      requestId: 'request',
      authorizer: {
        sellerId: 'sel_test',
        keyId: 'key_test',
        plan: 'professional',
        scopes: 'users:read users:write buyers:register',
        expiresAt: '',
      },
    },
  }) as unknown as APIGatewayProxyEvent;

/** Calls a function as Lambda would; gives its status. */
const call = async (name: RouteName, body?: unknown): Promise<number> => {
  const { handler } = (await import(`#functions/${name}.ts`)) as { readonly handler: LambdaHandler };
  return (await handler(eventOf(name, body), context)).statusCode;
};

const granted = (name: RouteName): string[] =>
  [...((routes[name].permissions as { table?: string[] }).table ?? [])].sort();

const person = newPerson();
const { phone } = person;

describe('what a function asks of the table is what its row is granted', () => {
  test('send-otp: a code, one too soon, one that the provider refuses', async () => {
    expect(await call('send-otp', { phone })).toBe(202);
    expect(await call('send-otp', { phone })).toBe(429);
    await simulators.faults.set('kavenegar', 'balance');
    expect(await call('send-otp', { phone: newPerson().phone })).toBe(503);
    await simulators.faults.set('kavenegar', undefined);
    expect(recorder.taken()).toEqual(granted('send-otp'));
  });

  test('verify-otp: a wrong code, and the right one, which registers the buyer', async () => {
    expect(await call('verify-otp', { phone, code: '000000' })).toBe(422);
    const [message] = simulators.messages(phone);
    expect(await call('verify-otp', { phone, code: message?.code })).toBe(200);
    expect(recorder.taken()).toEqual(granted('verify-otp'));
  });

  test('create-user: a new user, the same again, a conflict', async () => {
    expect(await call('create-user', person)).toBe(201);
    expect(await call('create-user', person)).toBe(200);
    expect(await call('create-user', { ...person, birth_date: '1359/1/1' })).toBe(409);
    expect(recorder.taken()).toEqual(granted('create-user'));
  });

  test('list-users: a page', async () => {
    expect(await call('list-users')).toBe(200);
    expect(recorder.taken()).toEqual(granted('list-users'));
  });

  test('every other row asks nothing of it', () => {
    const tried: readonly string[] = ['send-otp', 'verify-otp', 'create-user', 'list-users'];
    const others = allRoutes.filter(({ name }) => !tried.includes(name));
    expect(others.filter(({ permissions }) => permissions.table !== undefined)).toEqual([]);
  });

  test('the authorizer: a key of the first use on a day', async () => {
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
    const { handler } = await import('#functions/authorizer.ts');
    const event = {
      methodArn: 'arn:aws:execute-api:us-east-1:000000000000:api/dev/GET/v1/users',
      headers: { 'X-Api-Key': key },
      requestContext: { requestId: 'request' },
    };
    await handler(event as unknown as APIGatewayRequestAuthorizerEvent);
    expect(recorder.taken()).toEqual([...AUTHORIZER_PERMISSIONS.table, AUTHORIZER_WRITES.action].sort());
  });
});
