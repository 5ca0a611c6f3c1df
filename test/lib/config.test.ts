import { ConfigError, parseConfig } from '#lib/config.ts';
import { configOf, configsOf, STAGES } from '#lib/stages.ts';

const withOption = (name: string, value: unknown) => () =>
  parseConfig('dev', { ...STAGES.dev, [name]: value });

describe('parseConfig', () => {
  test.each([
    ['account', '123', 'option "account" must look like "123456789012".'],
    ['region', 'Frankfurt', 'option "region" must look like "eu-central-1".'],
    ['rollout', 'slowly', 'option "rollout" must be "all-at-once" or "gradual" or "direct".'],
    ['encryption', 'aes', 'option "encryption" must be "aws-owned-keys" or "customer-managed-key".'],
    ['permissionsBoundary', 'boundary', 'option "permissionsBoundary" must look like "arn:aws:iam::'],
    ['tags', 'payments', 'option "tags" must be { "cost-center": "payments" } or null.'],
    ['tags', { stage: 'x' }, 'option "tags.stage" must look like "cost-center"'],
    ['tags', { 'aws:x': 'x' }, 'must look like "cost-center"'],
    ['tags', { 'cost-center': 7 }, 'option "tags.cost-center" must look like "payments".'],
    ['budget', { usdPerMonth: 0 }, 'option "budget.usdPerMonth" must be a whole number from 1'],
    ['budget', { usdPerMonth: 100 }, 'option "budget" may be set only with "alarms"'],
    ['pointInTimeRecoveryDays', 36, 'option "pointInTimeRecoveryDays" must be a whole number from 1 to 35.'],
    ['runbookUrl', 'http://wiki', 'option "runbookUrl" must look like "https://'],
    ['keyPrefix', 'blk_', 'option "keyPrefix" must be "blk_live_" or "blk_test_".'],
    ['keyPrefix', 'blk_live_', 'option "keyPrefix" may be "blk_live_" only in the stage prod'],
    ['otpAccess', 'sometimes', 'option "otpAccess" must be "api-key" or "public".'],
    ['removal', 'keep', 'option "removal" must be "retain" or "destroy".'],
    ['logRetentionDays', 15, 'option "logRetentionDays" must be one of 1, 3, 5'],
    ['staticEgress', 'yes', 'option "staticEgress" must be true or false.'],
    ['canary', 1, 'option "canary" must be true or false.'],
    ['alarms', { email: 'on-call' }, 'option "alarms.email" must look like "on-call@your-company.com".'],
    ['alarms', { topicArn: 'on-call' }, 'option "alarms.topicArn" must look like "arn:aws:sns'],
    [
      'alarms',
      'ops@example.com',
      'option "alarms" must be { "email": "…" }, { "topicArn": "arn:…" } or null.',
    ],
    [
      'firewall',
      { requestsPerAddress: 5 },
      'option "firewall.requestsPerAddress" must be a whole number from 10',
    ],
    ['firewall', { rate: 50 }, 'option "firewall.rate" is not an option.'],
    ['domain', { name: 'api.example.com' }, 'option "domain.certificateArn" is missing.'],
    [
      'domain',
      { name: 'https://x', certificateArn: 'y' },
      'option "domain.name" must look like "api.your-company.com".',
    ],
    [
      'openRoutes',
      { requestsPerSecond: 0, burst: 1 },
      'option "openRoutes.requestsPerSecond" must be a whole number',
    ],
    ['signingKeys', [], 'option "signingKeys" must list labels, at least one'],
    ['retiredSigningKeys', ['k1'], 'option "retiredSigningKeys" may not name a key of "signingKeys"'],
    ['signingKeys', ['k1', 'k1'], 'option "signingKeys" must list labels, at least one, without duplicates'],
    [
      'providers',
      { identityRegistry: [], sms: ['kavenegar'], secretName: 'x' },
      'option "providers.identityRegistry" must list',
    ],
    [
      'providers',
      { ...STAGES.dev.providers, sms: ['kavenegar', 'pigeon'] },
      'option "providers.sms.1" must be one of "kavenegar", "sms-ir", "sandbox".',
    ],
    [
      'providers',
      { ...STAGES.dev.providers, sms: ['kavenegar'] },
      'option "providers" may name "sandbox" only for both ports, without another provider, and with the keyPrefix "blk_test_".',
    ],
    [
      'providers',
      { ...STAGES.dev.providers, identityRegistry: ['sandbox', 'zohal'] },
      'option "providers" may',
    ],
    [
      'spend',
      { paidChecksPerDay: 0, smsPerDay: null },
      'option "spend.paidChecksPerDay" must be a whole number from 1',
    ],
    ['spend', { smsPerDay: null }, 'option "spend.paidChecksPerDay" is missing.'],
    [
      'reservedConcurrency',
      { 'create-users': 10 },
      'option "reservedConcurrency.create-users" is not an option.',
    ],
    [
      'reservedConcurrency',
      { 'create-user': 901 },
      'option "reservedConcurrency.create-user" must be a whole number from 1 to 900.',
    ],
    ['otpAcess', 'public', 'option "otpAcess" is not an option.'],
  ])('throws for %s = %j and names the option', (name, value, sentence) => {
    expect(withOption(name, value)).toThrow(sentence);
  });

  test('throws for a missing option and names it', () => {
    const { canary: _left, ...rest } = STAGES.dev;
    expect(() => parseConfig('dev', rest)).toThrow('option "canary" is missing.');
  });

  test('throws for the sandbox beside live keys', () => {
    expect(() => parseConfig('prod', { ...STAGES.prod, providers: STAGES.dev.providers })).toThrow(
      'option "providers" may name "sandbox" only for both ports, without another provider, and with the keyPrefix "blk_test_".',
    );
  });

  test('names every fault in one error', () => {
    const config = () => parseConfig('dev', { ...STAGES.dev, canary: 'on', removal: 'never' });
    expect(config).toThrow(/removal.*\n.*canary/);
  });

  test.each([
    ['no firewall', { firewall: null, spend: { paidChecksPerDay: null, smsPerDay: 1000 } }],
    [
      'no ceiling on SMS',
      {
        firewall: { requestsPerAddress: 1000, codesPerAddress: 100 },
        spend: { paidChecksPerDay: null, smsPerDay: null },
      },
    ],
    ['neither', {}],
  ])('throws one sentence for otpAccess "public" with %s', (_, options) => {
    expect(() => parseConfig('dev', { ...STAGES.dev, otpAccess: 'public', ...options })).toThrow(
      new ConfigError(
        'The config of stage "dev" cannot be deployed: option "otpAccess" may be "public" only with a "firewall" and a number in "spend.smsPerDay": without keys, these two replace the limits of the plans.',
      ),
    );
  });

  test('accepts otpAccess "public" with a firewall and a ceiling on SMS', () => {
    const options = {
      otpAccess: 'public',
      firewall: { requestsPerAddress: 1000, codesPerAddress: 100 },
      spend: { paidChecksPerDay: null, smsPerDay: 1000 },
    };
    expect(parseConfig('dev', { ...STAGES.dev, ...options })).toMatchObject(options);
  });
});

describe('configOf', () => {
  test('returns the config of the named stage', () => {
    expect(configOf('dev').stage).toBe('dev');
    expect(configOf('prod')).toMatchObject({ stage: 'prod', keyPrefix: 'blk_live_', removal: 'retain' });
  });

  test('throws for an unknown stage and names the stages', () => {
    expect(() => configOf('qa')).toThrow(
      'There is no stage "qa". The stages of lib/stages.ts are dev and prod.',
    );
    expect(() => configOf('toString')).toThrow('There is no stage "toString".');
  });

  test('replaces an option by one of the command line, given as text or as JSON', () => {
    expect(
      configOf('dev', {
        canary: 'true',
        firewall: '{"requestsPerAddress":50,"codesPerAddress":10}',
        removal: 'retain',
      }),
    ).toMatchObject({
      canary: true,
      firewall: { requestsPerAddress: 50, codesPerAddress: 10 },
      removal: 'retain',
    });
  });

  test('keeps an account a text, although it is made of digits', () => {
    for (const account of ['012345678901', '123456789012']) {
      expect(configOf('dev', { account }).account).toBe(account);
    }
  });

  test('throws for an unknown option of the command line and names it', () => {
    expect(() => configOf('prod', { canarry: 'true' })).toThrow('option "canarry" is not an option.');
  });

  test('ignores the context of CDK itself', () => {
    expect(configOf('dev', { '@aws-cdk/core:someFlag': true, 'aws:cdk:bundling-stacks': [] }).stage).toBe(
      'dev',
    );
  });
});

describe('configsOf', () => {
  const CDK_CONTEXT = { '@aws-cdk/core:someFlag': true, 'aws:cdk:bundling-stacks': ['**'] };

  test('returns every stage without -c stage', () => {
    expect(configsOf(CDK_CONTEXT)).toEqual([configOf('dev'), configOf('prod')]);
  });

  test('returns the stage of -c stage with the options of the context', () => {
    expect(configsOf({ ...CDK_CONTEXT, stage: 'prod', canary: 'false' })).toEqual([
      configOf('prod', { canary: 'false' }),
    ]);
  });

  test('skips the gradual rollout of a stage with -c direct, which changes no other stage', () => {
    const rollouts = ['prod', 'dev'].flatMap((stage) => configsOf({ stage, direct: 'true' }));
    expect(rollouts.map(({ rollout }) => rollout)).toEqual(['direct', 'all-at-once']);
  });

  test('throws for an option without -c stage, which would be for every stage', () => {
    expect(() => configsOf({ ...CDK_CONTEXT, removal: 'destroy' })).toThrow(
      new ConfigError('Name the stage whose option -c removal replaces: -c stage=dev.'),
    );
  });
});
