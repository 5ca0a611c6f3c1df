import { bindOnce, readEnv } from '#shared/env.ts';

describe('readEnv', () => {
  it('reads the named variables, and lists as lists', () => {
    const environment = {
      TABLE_NAME: 'the-table',
      IDENTITY_PROVIDERS: 'jibit,zohal',
      OTP_ACCESS: 'public',
      OTHER: 'x',
    };
    expect(readEnv(['TABLE_NAME', 'IDENTITY_PROVIDERS', 'OTP_ACCESS'], environment)).toEqual({
      TABLE_NAME: 'the-table',
      IDENTITY_PROVIDERS: ['jibit', 'zohal'],
      OTP_ACCESS: 'public',
    });
  });

  it('accepts a missing DYNAMODB_ENDPOINT, which AWS does not set', () => {
    expect(readEnv(['TABLE_NAME', 'DYNAMODB_ENDPOINT'], { TABLE_NAME: 't' })).toEqual({ TABLE_NAME: 't' });
  });

  it('names every variable that is missing or wrong at once and no other', () => {
    const environment = { TABLE_NAME: '', KEY_PREFIX: 'sk_live_', OTP_ACCESS: 'api-key' };
    expect(() =>
      readEnv(['OTP_ACCESS', 'TABLE_NAME', 'HASH_SECRET', 'KEY_PREFIX', 'SMS_PROVIDERS'], environment),
    ).toThrow(
      new Error('environment variables missing or wrong: TABLE_NAME, HASH_SECRET, KEY_PREFIX, SMS_PROVIDERS'),
    );
  });

  it('shows no value in its error', () => {
    const environment = { OTP_ACCESS: 'hunter2', KEY_PREFIX: 'hunter2', SMS_PROVIDERS: 'hunter2,' };
    const read = () => readEnv(['OTP_ACCESS', 'KEY_PREFIX', 'SMS_PROVIDERS'], environment);
    expect(read).toThrow('OTP_ACCESS, KEY_PREFIX, SMS_PROVIDERS');
    expect(read).not.toThrow('hunter2');
  });

  it.each(['', ',', 'jibit,', ',jibit', 'jibit,,zohal'])(
    'rejects the list %j, which has an empty name',
    (names) => {
      expect(() => readEnv(['IDENTITY_PROVIDERS'], { IDENTITY_PROVIDERS: names })).toThrow(
        'IDENTITY_PROVIDERS',
      );
    },
  );

  it('reads the environment of the process by default', () => {
    process.env.TABLE_NAME = 'of-the-process';
    expect(readEnv(['TABLE_NAME'])).toEqual({ TABLE_NAME: 'of-the-process' });
    delete process.env.TABLE_NAME;
    expect(() => readEnv(['TABLE_NAME'])).toThrow('TABLE_NAME');
  });
});

describe('bindOnce', () => {
  afterEach(() => {
    delete process.env.AWS_LAMBDA_FUNCTION_NAME;
  });

  it.each([
    ['in Lambda while the module loads', 'list-users', 1],
    ['on one machine at the first request', undefined, 0],
  ])(
    'makes the dependencies %s, and the same for all requests: circuits and secrets live in them',
    (_, name, atLoad) => {
      if (name !== undefined) process.env.AWS_LAMBDA_FUNCTION_NAME = name;
      let made = 0;
      const deps = bindOnce(() => {
        made += 1;
        return { made };
      });
      expect(made).toBe(atLoad);
      expect(deps()).toBe(deps());
      expect(made).toBe(1);
    },
  );
});
