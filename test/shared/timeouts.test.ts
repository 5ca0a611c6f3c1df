/** The timeouts that hold on AWS add up: each attempt ends before what waits for it. */

import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { KMSClient } from '@aws-sdk/client-kms';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { authorize } from '#functions/authorizer.ts';
import { kmsSigner } from '#shared/access-tokens/signer.ts';
import { newApiKey } from '#shared/api-keys/secret.ts';
import { openScope, RESERVE_MS } from '#shared/http/request.ts';
import { checkPerson } from '#shared/identity-registry/check-person.ts';
import { identityRegistryFrom } from '#shared/identity-registry/configured.ts';
import { Problem } from '#shared/problems.ts';
import { minuteLimit } from '#shared/rate-limits/key-limits.ts';
import { rateLimiterFromEnv } from '#shared/rate-limits/rate-limiter.ts';
import { currentDeadline, runInRequest } from '#shared/request-context.ts';
import type { Route } from '#shared/route.ts';
import { allRoutes, routes } from '#shared/routes.ts';
import { secretAt } from '#shared/secrets/secret-source.ts';
import { smsSenderFrom } from '#shared/sms/configured.ts';
import { deliverCode } from '#shared/sms/port.ts';
import { openTable } from '#shared/table/client.ts';
import { fixedSecret } from '#test/fakes/secret.ts';
import { quietLog } from '#test/shared/providers/quiet-log.ts';

quietLog();

/** Opens the scope of a request as its function does in Lambda, when it has all of its time. */
const scopeOf = (route: Route) =>
  openScope(route, { path: route.path, requestContext: { requestId: 'request' } } as never, {
    getRemainingTimeInMillis: () => route.timeoutSeconds * 1000,
  });

/** Returns the times of the signals that `run` makes, in milliseconds. */
const timesOf = async (run: () => Promise<unknown>): Promise<readonly number[]> => {
  const { timeout } = AbortSignal;
  const times: number[] = [];
  AbortSignal.timeout = (ms) => {
    times.push(ms);
    return timeout.call(AbortSignal, ms);
  };
  try {
    await run().catch((error: unknown) => {
      if (!(error instanceof Problem)) throw error;
    });
  } finally {
    AbortSignal.timeout = timeout;
  }
  return times;
};

/** Nothing listens there: each attempt fails at once. */
const base_url = 'http://127.0.0.1:9';

/** The settings of a client of the SDK. */
const settingsOf = async ({ config }: Pick<DynamoDBClient | KMSClient | SecretsManagerClient, 'config'>) => {
  const { configProvider } = config.requestHandler as unknown as {
    configProvider: Promise<{ readonly connectionTimeout: number; readonly requestTimeout: number }>;
  };
  return { attempts: await config.maxAttempts(), ...(await configProvider) };
};

const settingsOfTable = () => settingsOf(openTable('table').client);

/** Returns the settings of the client with which `run` makes its first call. The call is not sent. */
const settingsIn = async (
  Client: typeof KMSClient | typeof SecretsManagerClient,
  run: () => Promise<unknown>,
) => {
  const prototype = Client.prototype as { send?: unknown };
  const { promise: client, resolve } = Promise.withResolvers<KMSClient | SecretsManagerClient>();
  prototype.send = async function (this: KMSClient | SecretsManagerClient) {
    resolve(this);
    throw new Error('not sent');
  };
  await run().catch(() => undefined);
  // The own method hides that of the class above.
  delete prototype.send;
  return settingsOf(await client);
};

describe('the timeouts of a function', () => {
  test.each(allRoutes.map((route) => [route.name, route] as const))(
    'of %s: a response is due before Lambda ends it, and Lambda ends it before API Gateway',
    (_, route) => {
      const leftMs = scopeOf(route).deadline.leftMs();
      expect(leftMs).toBeGreaterThan(0);
      expect(leftMs).toBeLessThanOrEqual(route.timeoutSeconds * 1000 - RESERVE_MS);
      expect(route.timeoutSeconds).toBeLessThan(29);
    },
  );
});

describe('the timeouts of the table on AWS', () => {
  test('are half a second to connect and one for a response, and a lost packet leaves two attempts within a call', async () => {
    expect(await settingsOfTable()).toMatchObject({
      attempts: 3,
      connectionTimeout: 500,
      requestTimeout: 1000,
      throwOnRequestTimeout: true,
    });
  });

  test('end a call, all attempts included, after three seconds: long enough for a second attempt', async () => {
    const { client } = openTable('table', base_url);
    const scope = scopeOf(routes['create-user']);
    const leftMs = scope.deadline.leftMs();
    const read = () => client.send(new GetCommand({ TableName: 'table', Key: { pk: 'a', sk: 'a' } }));
    const [callMs] = await timesOf(() => runInRequest(scope, read).catch(() => undefined));
    const { connectionTimeout, requestTimeout } = await settingsOfTable();
    expect(callMs).toBe(3000);
    expect(callMs).toBeGreaterThan(2 * (connectionTimeout + requestTimeout) - 1);
    // It can be made again, or undone, before the response is due.
    expect(callMs).toBeLessThan(leftMs);
  });
});

describe('the timeouts of counts, secrets and keys in Lambda', () => {
  test('of a count: a second, so that a request whose count hangs passes within its deadline', async () => {
    process.env.AWS_LAMBDA_FUNCTION_NAME = 'list-users';
    const limiter = rateLimiterFromEnv(openTable('table', base_url));
    delete process.env.AWS_LAMBDA_FUNCTION_NAME;
    const limit = minuteLimit({ keyId: 'key_1', plan: 'free' });
    const times = await timesOf(() => limiter.increment(limit, 0).catch(() => undefined));
    // On a busy machine the attempts of the first call last a second, and a second call follows.
    expect(new Set(times)).toEqual(new Set([1000]));
    expect(2 * 1000).toBeLessThan(scopeOf(routes['list-users']).deadline.leftMs());
  });

  test.each([
    ['Secrets Manager', SecretsManagerClient, () => secretAt('secret').read()],
    ['KMS, for a signature', KMSClient, () => kmsSigner(['key']).sign({})],
    ['KMS, for the public keys', KMSClient, () => kmsSigner(['key', 'other']).publicKeys()],
  ])(
    'of %s: a second to connect and two for a response, so that an attempt ends within the shortest deadline',
    async (_, Client, run) => {
      const { connectionTimeout, requestTimeout, ...others } = await settingsIn(Client, run);
      expect([connectionTimeout, requestTimeout]).toEqual([1000, 2000]);
      expect(others).toMatchObject({ attempts: 3, throwOnRequestTimeout: true });
      const shortestMs = Math.min(...allRoutes.map((route) => scopeOf(route).deadline.leftMs()));
      expect(connectionTimeout + requestTimeout).toBeLessThan(shortestMs + 100);
    },
  );

  test('of a request: a change of the system clock does not move its deadline', () => {
    const { now } = Date;
    const { deadline } = scopeOf(routes['list-users']);
    Date.now = () => now() + 3_600_000;
    const leftMs = deadline.leftMs();
    Date.now = now;
    expect(leftMs).toBeGreaterThan(2000);
  });

  test('of a decision on a key: it ends before Lambda ends the authorizer, after five seconds', async () => {
    let leftMs = 0;
    const secrets = {
      findSecret: async () => {
        leftMs = currentDeadline().leftMs();
        return undefined;
      },
    };
    const event = {
      headers: { 'x-api-key': newApiKey('blk_test_') },
      requestContext: { requestId: 'request' },
    };
    const decision = authorize(event as never, { secrets, keyPrefix: 'blk_test_', clock: Date.now });
    await expect(decision).rejects.toThrow('Unauthorized');
    expect(leftMs).toBeGreaterThan(2000);
    expect(leftMs).toBeLessThanOrEqual(3000);
  });
});

describe('the timeouts of a port', () => {
  test('of the registries: after an attempt that timed out, an attempt of the next provider fits in, and the link can be written', async () => {
    const jibit = { api_key: 'key', secret_key: 'secret', base_url };
    const secret = fixedSecret(JSON.stringify({ jibit, zohal: { token: 'token', base_url } }));
    const attempts: number[] = [];
    const registry = identityRegistryFrom(['jibit', 'zohal'], secret, {
      timeoutSignal: (ms) => {
        attempts.push(ms);
        return new AbortController().signal;
      },
    });
    const person = { nationalId: '0', birthDate: { year: 1370, month: 1, day: 1 }, phone: '+989120000000' };
    const scope = scopeOf(routes['create-user']);
    const leftMs = scope.deadline.leftMs();
    const beganAt = performance.now();
    const [checkMs = 0, ...tokenMs] = await timesOf(() =>
      runInRequest(scope, () => checkPerson(registry, person)),
    );
    // Between two attempts of each provider.
    const pausedMs = performance.now() - beganAt;
    expect(pausedMs).toBeGreaterThan(2 * 99);
    expect(new Set(attempts)).toEqual(new Set([6000]));
    expect(2 * 6000 + pausedMs).toBeLessThan(checkMs);
    // The token of Jibit is requested within an attempt.
    expect(new Set(tokenMs)).toEqual(new Set([5000]));
    expect(leftMs - checkMs).toBeGreaterThan(2500);
  });

  test('of the SMS providers: after an attempt that timed out, the send can be undone', async () => {
    const secret = fixedSecret(JSON.stringify({ kavenegar: { api_key: 'key', template: 'code', base_url } }));
    const attempts: number[] = [];
    const sms = smsSenderFrom(['kavenegar'], secret, {
      timeoutSignal: (ms) => {
        attempts.push(ms);
        return new AbortController().signal;
      },
    });
    const message = { phone: '+989120000000', code: '123456', locale: 'fa', templates: {} } as const;
    const scope = scopeOf(routes['send-otp']);
    const leftMs = scope.deadline.leftMs();
    const [sendMs = 0] = await timesOf(() => runInRequest(scope, () => deliverCode(sms, message)));
    expect(attempts).toEqual([8000]);
    expect(2 * 8000).toBeLessThan(sendMs);
    expect(leftMs - sendMs).toBeGreaterThan(2500);
  });
});
