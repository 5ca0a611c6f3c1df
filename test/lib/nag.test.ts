import { describe, expect, test } from '@jest/globals';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { stageApp, stageConfig } from './synthesised.ts';

const ALARMS = { alarms: { email: 'on-call@example.com' } } as const;

const everyOption = stageConfig('prod', {
  ...ALARMS,
  otpAccess: 'public',
  domain: {
    name: 'api.example.com',
    certificateArn: 'arn:aws:acm:eu-central-1:123456789012:certificate/0',
  },
});

describe('the AwsSolutions rules of cdk-nag', () => {
  test.each([
    ['dev', stageConfig('dev')],
    ['prod', stageConfig('prod', ALARMS)],
    ['prod with every option', everyOption],
  ])('find nothing in %s that nobody has acknowledged', (_, config) => {
    const { app } = stageApp(config);
    expect(() => app.synth()).not.toThrow();
  });

  test('do look: a bucket that breaks them fails the synth', () => {
    const { app, api } = stageApp(stageConfig('dev'));
    new Bucket(api, 'Careless');
    expect(() => app.synth()).toThrow(/AwsSolutions-S1|[Vv]alidation/);
  });
});
