import { Bucket } from 'aws-cdk-lib/aws-s3';
import { everyOption, stageApp, stageConfig } from './synthesized.ts';

const ALARMS = { alarms: { email: 'on-call@example.com' } } as const;

describe('the rules of cdk-nag and of CloudFormation', () => {
  test.each([
    ['dev', stageConfig('dev')],
    ['prod', stageConfig('prod', ALARMS)],
    ['prod with every option', everyOption],
    [
      'prod with every option, in a fixed account and Region',
      { ...everyOption, account: '123456789012', region: 'eu-central-1' },
    ],
  ])('accept the stacks of %s', (_, config) => {
    const { app } = stageApp(config, { hasValidation: true });
    expect(() => app.synth()).not.toThrow();
  });

  test('fail the synth of a stack with a bucket that violates them', () => {
    const { app, api } = stageApp(stageConfig('dev'));
    new Bucket(api, 'Careless');
    expect(() => app.synth()).toThrow(/AwsSolutions-S1|[Vv]alidation/);
  });
});
