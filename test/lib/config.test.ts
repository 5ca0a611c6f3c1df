import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { App } from 'aws-cdk-lib';
import { parseConfig } from '#lib/config.ts';
import { configOf, STAGES } from '#lib/stages.ts';

const withOption = (name: string, value: unknown) => () =>
  parseConfig('dev', { ...STAGES.dev, [name]: value });

describe('a config that cannot be deployed', () => {
  test.each([
    ['keyPrefix', 'blk_', 'option "keyPrefix" must be "blk_live_" or "blk_test_".'],
    ['keyPrefix', 'blk_live_', 'option "keyPrefix" may be "blk_live_" only in the stage prod'],
    ['otpAccess', 'sometimes', 'option "otpAccess" must be "api-key" or "public".'],
    ['removal', 'keep', 'option "removal" must be "retain" or "destroy".'],
    ['logRetentionDays', 15, 'option "logRetentionDays" must be one of 1, 3, 5'],
    ['staticEgress', 'yes', 'option "staticEgress" must be true or false.'],
    ['canary', 1, 'option "canary" must be true or false.'],
    ['alarms', { email: 'nobody' }, 'option "alarms.email" must look like "on-call@your-company.com".'],
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
    ['signingKeys', [], 'option "signingKeys" must list labels of your own, at least one'],
    [
      'signingKeys',
      ['k1', 'k1'],
      'option "signingKeys" must list labels of your own, at least one, each once',
    ],
    [
      'providers',
      { identityRegistry: [], sms: ['kavenegar'], secretName: 'x' },
      'option "providers.identityRegistry" must list',
    ],
    [
      'providers',
      { ...STAGES.dev.providers, sms: ['kavenegar', 'pigeon'] },
      'option "providers.sms.1" must be one of "kavenegar", "sms-ir".',
    ],
    ['otpAcess', 'public', 'option "otpAcess" is not an option.'],
  ])('%s = %j is refused by name', (name, value, sentence) => {
    expect(withOption(name, value)).toThrow(sentence);
  });

  test('a missing option is named', () => {
    const { canary: _left, ...rest } = STAGES.dev;
    expect(() => parseConfig('dev', rest)).toThrow('option "canary" is missing.');
  });

  test('every fault is named at once', () => {
    const config = () => parseConfig('dev', { ...STAGES.dev, canary: 'on', removal: 'never' });
    expect(config).toThrow(/removal.*\n.*canary/);
  });

  test('open one-time codes need a limit for each address in place of the plans', () => {
    expect(withOption('otpAccess', 'public')).toThrow(
      'option "firewall" must not be null where "otpAccess" is "public"',
    );
  });
});

describe('the config that a command means', () => {
  const configWith = (context: Record<string, unknown>) => configOf(new App({ context }));

  test('is dev unless a stage is named', () => {
    expect(configWith({}).stage).toBe('dev');
    expect(configWith({ stage: 'prod' })).toMatchObject({
      stage: 'prod',
      keyPrefix: 'blk_live_',
      removal: 'retain',
    });
  });

  test('names the stages there are when asked for another', () => {
    expect(() => configWith({ stage: 'qa' })).toThrow('option "stage" must be one of dev, prod');
    expect(() => configWith({ stage: 'toString' })).toThrow('option "stage" must be one of dev, prod');
  });

  test('takes an option of the command line, as text or as JSON', () => {
    expect(
      configWith({ canary: 'true', firewall: '{"requestsPerAddress":50}', otpAccess: 'public' }),
    ).toMatchObject({
      canary: true,
      firewall: { requestsPerAddress: 50 },
      otpAccess: 'public',
    });
  });

  test('names an option of the command line that does not exist', () => {
    expect(() => configWith({ stage: 'prod', canarry: 'true' })).toThrow(
      'option "canarry" is not an option.',
    );
  });

  test('is not disturbed by the context of CDK itself', () => {
    expect(configWith({ '@aws-cdk/core:someFlag': true, 'aws:cdk:bundling-stacks': [] }).stage).toBe('dev');
  });
});

describe('the app that the CDK command line runs', () => {
  test('ends with the sentences of a wrong config, and without a stack trace', async () => {
    const context = { stage: 'prod', otpAccess: 'sometimes', canarry: true };
    const failed = await promisify(execFile)(process.execPath, ['bin/app.ts'], {
      env: { ...process.env, CDK_CONTEXT_JSON: JSON.stringify(context) },
    }).catch((error: unknown) => error);
    expect(failed).toMatchObject({
      code: 1,
      stderr: [
        'The config of stage "prod" cannot be deployed:',
        '  - option "otpAccess" must be "api-key" or "public".',
        '  - option "canarry" is not an option.',
        '',
      ].join('\n'),
    });
  });
});
