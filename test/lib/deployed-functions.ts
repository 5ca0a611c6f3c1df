/** The functions with the bindings that they have in Lambda, on a table of the test. Their calls of the table can be recorded. */
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Context } from 'aws-lambda';
import type { LambdaHandler } from '#shared/http/endpoint.ts';
import { redirectLog } from '#shared/log.ts';
import { type RouteName, routes } from '#shared/routes.ts';
import { addSellers } from '#test/functions/create-user-under-test.ts';
import { newPerson } from '#test/generated-people.ts';
import { type Simulators, startSimulators } from '#test/simulators/server.ts';
import { callRounds } from '#test/table/call-rounds.ts';
import type { SentCommand } from '#test/table/intercepted-table.ts';
import type { TestTable } from '#test/table/use-table.ts';
import { gatewayEvent, type Sent } from './gateway-event.ts';

/** What a caller with the buyer app's key sends. */
export const APP = { scopes: 'buyers:register' } as const;

/**
 * A stage in a change of its issuer: the first is written into tokens, all are accepted. Neither the order of the alphabet nor the last place
 * makes the right one.
 */
export const ISSUERS = ['https://m.example', 'https://a.example', 'https://z.example'] as const;

/** The settings of the stage. In `rotation` the hash secret is in the middle of one, and has an older key. */
export type Variant = 'plain' | 'ceilings' | 'rotation';

const VARIANTS: Readonly<Record<Variant, NodeJS.ProcessEnv>> = {
  plain: { HASH_SECRET: 'ring' },
  ceilings: { HASH_SECRET: 'ring', PAID_CHECKS_PER_DAY: '1000000', SMS_PER_DAY: '1000000' },
  rotation: { HASH_SECRET: 'rotating-ring' },
};

interface Result {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any JSON of the response; undefined for an empty body.
  readonly body: any;
}

const context = { getRemainingTimeInMillis: () => 20_000 } as Context;

/** Each variant and test file, which share modules within a worker, has an instance of its own. It reads the environment at its first call. */
const handlerOf = async (variant: Variant, name: string): Promise<LambdaHandler> => {
  for (const setting of ['PAID_CHECKS_PER_DAY', 'SMS_PER_DAY']) delete process.env[setting];
  Object.assign(process.env, VARIANTS[variant]);
  const { handler } = (await import(`#functions/${name}.ts?${variant}-${process.env.TABLE_NAME}`)) as {
    readonly handler: LambdaHandler;
  };
  return handler;
};

/** Calls a function as Lambda does. */
const callFunction = async (variant: Variant, name: string, sent: Sent): Promise<Result> => {
  const handler = await handlerOf(variant, name);
  const { statusCode, body } = await handler(gatewayEvent(routes[name as RouteName], sent), context);
  return { status: statusCode, body: body === '' ? undefined : JSON.parse(body) };
};

/** Replaces the calls of the AWS clients of this process: secrets are those given, and calls of a table pass through `onCall`. */
const interceptAws = (
  secrets: Readonly<Record<string, string>>,
  onCall: (command: SentCommand, send: () => Promise<unknown>) => Promise<unknown>,
) => {
  const { prototype: table } = DynamoDBDocumentClient as unknown as { prototype: { send: unknown } };
  const { prototype: manager } = SecretsManagerClient as unknown as { prototype: { send: unknown } };
  const { send } = Object.getPrototypeOf(table) as { send(...args: unknown[]): Promise<unknown> };
  table.send = function (this: unknown, command: { input: SentCommand['input'] }, ...rest: unknown[]) {
    return onCall({ name: command.constructor.name, input: command.input }, () =>
      send.call(this, command, ...rest),
    );
  };
  manager.send = async ({ input }: { input: { SecretId: string } }) => ({
    SecretString: secrets[input.SecretId],
  });
  return () => {
    for (const prototype of [table, manager]) delete (prototype as { send?: unknown }).send;
  };
};

/** Starts the functions before the tests of a file. A request prepares what it needs with `call` and the helpers, outside of a recording. */
export const useDeployedFunctions = (table: TestTable) => {
  let simulators: Simulators;
  let recording:
    | { readonly commands: SentCommand[]; readonly calls: ReturnType<typeof callRounds> }
    | undefined;
  const cleanups: (() => unknown)[] = [];

  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'buyer-linking-functions-'));
    simulators = await startSimulators();
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    await writeFile(join(folder, 'key.pem'), privateKey.export({ format: 'pem', type: 'pkcs8' }));
    Object.assign(process.env, {
      TABLE_NAME: table.name,
      DYNAMODB_ENDPOINT: table.endpoint,
      PROVIDER_SECRET: 'providers',
      IDENTITY_PROVIDERS: 'jibit',
      SMS_PROVIDERS: 'kavenegar',
      SIGNING_KEYS: `file:${join(folder, 'key.pem')}`,
      TOKEN_ISSUERS: ISSUERS.join(','),
      KEY_PREFIX: 'blk_test_',
      OTP_ACCESS: 'api-key',
      RELEASE_VERSION: '1.2.3',
      RELEASE_COMMIT: '0123456789ab',
    });
    const secrets = {
      ring: JSON.stringify({ current: 'k'.repeat(40) }),
      'rotating-ring': JSON.stringify({ current: 'n'.repeat(40), previous: ['o'.repeat(40)] }),
      providers: JSON.stringify(simulators.providerSecret),
    };
    cleanups.push(
      interceptAws(secrets, (command, send) => {
        recording?.commands.push(command);
        return recording?.calls.make(command.name, send) ?? send();
      }),
      redirectLog(() => {}),
      () => simulators.close(),
      () => rm(folder, { recursive: true }),
    );
    await addSellers(table, 'sel_test', 'sel_events', 'sel_removals');
  });

  afterAll(async () => {
    for (const cleanUp of cleanups) await cleanUp();
  });

  /** The functions of a variant, and what prepares requests to them. */
  const of = (variant: Variant) => {
    const call = (name: string, sent: Sent = {}): Promise<Result> => callFunction(variant, name, sent);

    /** Sends a code to a phone and returns it. */
    const sendCode = async (phone: string, sent: Sent = APP): Promise<string> => {
      expect(await call('send-otp', { body: { phone }, ...sent })).toMatchObject({ status: 202 });
      return String(simulators.messages(phone)[0]?.code);
    };

    /** Signs a buyer in and returns the header with the access token. */
    const signIn = async (phone: string) => {
      const sent = { body: { phone, code: await sendCode(phone) }, ...APP };
      const { status, body } = await call('verify-otp', sent);
      expect(status).toBe(200);
      return { headers: { authorization: `Bearer ${body.access_token}` } };
    };

    /** Returns a person whose phone is a registered buyer. */
    const newBuyer = async () => {
      const person = newPerson();
      await signIn(person.phone);
      return person;
    };

    /** Links a new buyer with an external id. Returns what names the user. */
    const newUser = async (sent: Sent = {}) => {
      const person = { ...(await newBuyer()), external_id: randomUUID() };
      const { status, body } = await call('create-user', { body: person, ...sent });
      expect(status).toBe(201);
      return { person, pathParameters: { id: String(body.id) } };
    };

    return { call, sendCode, signIn, newBuyer, newUser, simulators };
  };

  /** Returns the result of `run`, the rounds of its calls of the table, and these calls. */
  const recordCalls = async <T>(run: () => Promise<T>) => {
    recording = { commands: [], calls: callRounds() };
    const { commands, calls } = recording;
    try {
      return { result: await run(), rounds: calls.rounds, commands };
    } finally {
      recording = undefined;
    }
  };

  /** Sends a request, and records it. */
  const record = async (variant: Variant, name: string, sent: Sent) => {
    // The first GET of an instance reads the secret beside its calls.
    if (routes[name as RouteName].method === 'GET') await callFunction(variant, name, sent);
    const { result, ...calls } = await recordCalls(() => callFunction(variant, name, sent));
    return { status: result.status, ...calls };
  };

  return { of, record, recordCalls, handlerOf };
};

export type DeployedFunctions = ReturnType<ReturnType<typeof useDeployedFunctions>['of']>;
