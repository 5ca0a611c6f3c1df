import { callsProviders, variablesOf } from '#lib/permissions.ts';
import { logEvent, redirectLog } from '#shared/log.ts';
import { allFunctions, routes } from '#shared/routes.ts';
import { itForAll } from '#test/for-all.ts';
import { SMALL_SITE } from '#test/service/running-service.ts';

/** Returns an environment with a value for each variable, and the names of those that were read. */
const recordingEnvironment = () => {
  const read = new Set<string>();
  const values: Record<string, string> = {
    TABLE_NAME: 'table',
    HASH_SECRET: 'arn:secret',
    PROVIDER_SECRET: 'secret',
    IDENTITY_PROVIDERS: 'jibit',
    SMS_PROVIDERS: 'kavenegar',
    SIGNING_KEYS: 'key',
    TOKEN_ISSUERS: 'https://issuer',
    KEY_PREFIX: 'blk_test_',
    OTP_ACCESS: 'api-key',
    RELEASE_VERSION: '1.2.3',
    RELEASE_COMMIT: '0123456789ab',
    PAID_CHECKS_PER_DAY: '1000',
    SMS_PER_DAY: '1000',
    SUPPORT_EMAIL: 'api@example.com',
    STATUS_URL: 'https://status.example.com',
    BUYER_APP_URL: 'https://buyers.example.com',
    METRIC_NAMESPACE: 'BuyerLinking/test',
  };
  // In Lambda a function builds its dependencies while its module loads.
  const lambda = { AWS_REGION: 'us-east-1', AWS_LAMBDA_FUNCTION_NAME: 'function' };
  // In Lambda the site is beside the code.
  const site = { SITE_FOLDER: SMALL_SITE };
  const environment = new Proxy<NodeJS.ProcessEnv>(
    { ...lambda, ...site, ...values },
    {
      get(target, name) {
        if (typeof name === 'string' && name in values) read.add(name);
        return Reflect.get(target, name);
      },
    },
  );
  return { environment, read };
};

/** Returns the variables that the dependencies of a function and the log read. */
const variablesReadBy = async (name: string): Promise<string[]> => {
  const { environment, read } = recordingEnvironment();
  const before = process.env;
  process.env = environment;
  try {
    await import(`#functions/${name}.ts`);
    // Every function writes to the log.
    const restore = redirectLog(() => {});
    logEvent('rate_limiter_unreachable', { operation: name });
    restore();
  } finally {
    process.env = before;
  }
  return [...read].sort();
};

describe('the environment of a function', () => {
  itForAll(allFunctions.map((row) => [row.name, row] as const))(
    'is exactly the variables that it reads',
    async (name, row) => {
      expect([...variablesOf(row)].sort()).toEqual(await variablesReadBy(name));
    },
  );

  test('create-user, check-user and send-otp call providers, and no other function does', () => {
    const calling = [routes['create-user'], routes['check-user'], routes['send-otp']];
    expect(allFunctions.filter(callsProviders)).toEqual(calling);
  });
});
