import { Bucket } from 'aws-cdk-lib/aws-s3';
import { COMPLETE, EVERY_OPTION, stageApp, stageConfig } from './synthesized.ts';

describe('the rules of cdk-nag and of CloudFormation', () => {
  test.each([
    ['dev', stageConfig('dev')],
    ['prod', stageConfig('prod', COMPLETE)],
    ['prod with every option', stageConfig('prod', { ...EVERY_OPTION, otpAccess: 'public' })],
    [
      'prod with every option, in a fixed account and Region',
      stageConfig('prod', { ...EVERY_OPTION, account: '123456789012', region: 'eu-central-1' }),
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
