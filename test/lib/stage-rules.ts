/** The rules of cdk-nag and of CloudFormation, for the templates of stages. */
import { CfnResource, type Stack } from 'aws-cdk-lib';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import type { Config } from '#lib/config.ts';
import { EVERY_OPTION, stageApp, stageConfig } from './synthesized.ts';

/** The settings of prod with which its templates have the most. */
export const PROD_WITH_EVERY_OPTION = { ...EVERY_OPTION, otpAccess: 'public' } as const;

/** The stage with the least in its templates, and the one with the most. */
export const LEAST_AND_MOST = {
  dev: stageConfig('dev'),
  'prod with every option': stageConfig('prod', PROD_WITH_EVERY_OPTION),
};

/** Describes that the rules accept these stages, and that they refuse a stack which violates them. */
export const describeStageRules = (configs: Readonly<Record<string, Config>>): void => {
  test.each(Object.entries(configs))('accept the stacks of %s', (_, config) => {
    expect(() => stageApp(config, { hasValidation: true }).app.synth()).not.toThrow();
  });

  test.each([
    ['bucket without a log', false, (stack: Stack) => new Bucket(stack, 'Wrong'), 'AwsSolutions-S1'],
    [
      'property that does not exist',
      true,
      (stack: Stack) =>
        new CfnResource(stack, 'Wrong', { type: 'AWS::Logs::LogGroup', properties: { Nme: 'x' } }),
      'Nme',
    ],
  ] as const)('fail the synth of a stack that has a %s', (_, hasValidation, add, finding) => {
    const { app, api } = stageApp(stageConfig('dev'), { hasValidation });
    add(api);
    expect(() => app.synth()).toThrow(finding);
  });
};
