import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import type { APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import * as v from 'valibot';
import { SELLER_COUNTS } from '#lib/grants.ts';
import { hashApiKey, newApiKey } from '#shared/api-keys/secret.ts';
import { redirectLog } from '#shared/log.ts';
import { permissionsOf, type Route } from '#shared/route.ts';
import { allRoutes, type RouteName, routes } from '#shared/routes.ts';
import { keySecretKey, sellerKey } from '#shared/table/keys.ts';
import { itForAll } from '#test/for-all.ts';
import { validBody } from '#test/security/valid-request.ts';
import { type Simulators, startSimulators } from '#test/simulators/server.ts';
import { useTable } from '#test/table/use-table.ts';
import { type FunctionCalls, functionCalls } from './function-calls.ts';
import { type RecordingTable, startRecordingTable } from './recording-table.ts';

/** Uses the grant that every row with a key has: one request, which is counted. */
const countedRequest =
  (route: Route) =>
  async ({ statusOf }: FunctionCalls): Promise<void> => {
    const pathParameters = Object.fromEntries(
      Object.entries(route.pathParameters?.schema.entries ?? {}).map(([name, schema]) => [
        name,
        String((v.getExamples(schema) as readonly unknown[])[0]),
      ]),
    );
    const sent = { pathParameters, body: validBody(route) };
    expect(Object.keys(route.responses)).toContain(String(await statusOf(route.name, sent)));
  };

/** Returns the requests of `table-requests/<row>.ts`; one request for a row whose only grant is that of its key. */
const requestsOf = async (route: Route): Promise<(calls: FunctionCalls) => Promise<void>> =>
  route.permissions.table === undefined
    ? countedRequest(route)
    : (await import(`./table-requests/${route.name}.ts`)).default;

/**
 * No emulator checks grants, so a missing grant would fail on AWS only. Here the functions run with the bindings that they have in
 * Lambda, on the embedded database behind a recorder. `table-requests/<row>.ts` sends requests that together use every grant of a row; a
 * row without table permissions of its own needs no such file. The recorded requests must equal the grants of the row.
 */
let folder: string;
const table = useTable();
let recorder: RecordingTable;
let simulators: Simulators;
let restoreLog: () => void;

const ENVIRONMENT_BEFORE = { ...process.env };

const file = async (name: string, text: string): Promise<string> => {
  await writeFile(join(folder, name), text);
  return `file:${join(folder, name)}`;
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'buyer-linking-actions-'));
  simulators = await startSimulators();
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
    TOKEN_ISSUERS: 'https://issuer.example',
    KEY_PREFIX: 'blk_test_',
    OTP_ACCESS: 'api-key',
  });
  restoreLog = redirectLog(() => {});
  await table.client.send(
    new PutCommand({
      TableName: table.name,
      Item: {
        ...sellerKey('sel_test'),
        name: 'Kaveh Books',
        status: 'active',
        user_count: 0,
        removed_count: 0,
        event_count: 0,
      },
    }),
  );
});

afterAll(async () => {
  restoreLog();
  process.env = ENVIRONMENT_BEFORE;
  await Promise.all([recorder.close(), simulators.close()]);
  await rm(folder, { recursive: true });
});

const grantedTo = (name: string): string[] =>
  Object.entries(permissionsOf(routes[name as RouteName]).table ?? {})
    .flatMap(([prefix, actions]) => actions.map((action) => `${action} ${prefix}`))
    .sort();

describe('the requests of a function to the table', () => {
  const rows = allRoutes.filter((route) => permissionsOf(route).table !== undefined);

  itForAll(rows.map((route) => [route.name, route] as const))(
    'use every grant of its row and nothing else, and of a seller change its counts only',
    async (name, route) => {
      recorder.clear();
      const useGrants = await requestsOf(route);
      await useGrants(functionCalls(recorder, simulators));
      expect(recorder.recorded()).toEqual(grantedTo(name));
      const { newSecrets = false } = route.permissions;
      const isCounting = grantedTo(name).includes('UpdateItem SELLER#') && !newSecrets;
      const attributes = newSecrets ? [] : recorder.updatedAttributes('SELLER#');
      expect(attributes).toEqual(isCounting ? [...SELLER_COUNTS].sort() : []);
    },
  );

  test('of the authorizer read a key secret and write nothing', async () => {
    const key = newApiKey('blk_test_');
    await table.client.send(
      new PutCommand({
        TableName: table.name,
        Item: {
          ...keySecretKey(hashApiKey(key)),
          seller_id: 'sel_test',
          key_id: 'key_test',
          scopes: ['users:read'],
          plan: 'free',
          usage_id: 'u'.repeat(40),
          status: 'active',
          seller_status: 'active',
          number: 1,
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
    expect(recorder.recorded()).toEqual(['GetItem SECRET#']);
  });
});
