import { variablesOf } from '#lib/permissions.ts';
import { filesIn } from '#local/data-folder.ts';
import { chosenOtpAccess, setEnvironment, setLocalCredentials } from '#local/environment.ts';
import { allFunctions } from '#shared/routes.ts';

const folder = filesIn('/data');

beforeEach(() => {
  for (const name of ['OTP_ACCESS', 'SMS_PER_DAY', 'SITE_FOLDER']) delete process.env[name];
});

describe('setEnvironment', () => {
  it('sets every variable that a deployed function has, but those of alarms, of support and of ceilings', () => {
    // A stage may leave them out.
    const optional = [
      'METRIC_NAMESPACE',
      'PAID_CHECKS_PER_DAY',
      'SMS_PER_DAY',
      'SUPPORT_EMAIL',
      'STATUS_URL',
      'BUYER_APP_URL',
    ];
    const deployed = new Set(allFunctions.flatMap(variablesOf));
    for (const name of deployed) delete process.env[name];
    setEnvironment(folder, { TOKEN_ISSUERS: 'http://localhost:3000' });
    expect([...deployed].filter((name) => process.env[name] === undefined).sort()).toEqual(optional.sort());
  });

  it('is the sandbox with test keys and the files of the folder, and other variables have precedence', () => {
    setEnvironment(folder, { SMS_PROVIDERS: 'kavenegar' });
    expect(process.env).toMatchObject({
      KEY_PREFIX: 'blk_test_',
      IDENTITY_PROVIDERS: 'sandbox',
      SMS_PROVIDERS: 'kavenegar',
      HASH_SECRET: 'file:/data/hash-secret.json',
      SIGNING_KEYS: 'file:/data/signing-key.pem',
      SITE_FOLDER: expect.stringMatching(/\.site$/),
    });
  });

  it('has the ceiling on SMS that a deploy requires where the one-time-code operations are public', () => {
    process.env.OTP_ACCESS = 'public';
    setEnvironment(folder, {});
    expect([process.env.OTP_ACCESS, process.env.SMS_PER_DAY]).toEqual(['public', '1000']);
  });
});

describe('chosenOtpAccess', () => {
  it('is "api-key" if nothing is chosen, and refuses another value in one sentence', () => {
    expect(chosenOtpAccess()).toBe('api-key');
    process.env.OTP_ACCESS = 'open';
    expect(chosenOtpAccess).toThrow('OTP_ACCESS must be "api-key" or "public".');
  });
});

describe('setLocalCredentials', () => {
  it("replaces the developer's own credentials, and leaves no profile and no session that would have precedence", () => {
    const own = { AWS_ACCESS_KEY_ID: 'own', AWS_SECRET_ACCESS_KEY: 'own', AWS_REGION: 'eu-central-1' };
    Object.assign(process.env, own, { AWS_PROFILE: 'own', AWS_SESSION_TOKEN: 'own' });
    setLocalCredentials();
    expect(process.env).toMatchObject({
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
      AWS_REGION: 'us-east-1',
    });
    expect(Object.keys(process.env)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^AWS_(?:PROFILE|SESSION_TOKEN)$/)]),
    );
  });
});
