import { Annotations, type App, CfnParameter, type Stack, Tags, Validations } from 'aws-cdk-lib';
import { ManagedPolicy, PermissionsBoundary } from 'aws-cdk-lib/aws-iam';
import { AwsSolutionsChecks } from 'cdk-nag';
import { ApiStack } from './api-stack.ts';
import type { Bundles } from './bundling.ts';
import type { Config } from './config.ts';
import { DataStack } from './data-stack.ts';
import { sharedAccounts, unsetOptions } from './deploy-rules.ts';
import type { Release } from './release.ts';
import { configOf, STAGE_NAMES } from './stages.ts';

interface Built {
  readonly bundles: Bundles;
  readonly release: Release;
}

/** Adds the stacks of the stages. An unacknowledged finding of the AwsSolutions rules fails the synth. */
export const addStages = (app: App, configs: readonly Config[], built: Built) => {
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  return configs.map((config) => addStage(app, config, built));
};

/**
 * Marks the stacks of prod while required options are unset. A warning: `cdk synth` builds and prints it, `npm run diff` and `npm run deploy`
 * refuse it (--strict). A parameter that nobody gives a value: the CDK CLI deploys no template with one, so plain `cdk deploy` is refused too.
 */
const refuseUnset = (stack: Stack, fault: string): void => {
  Annotations.of(stack).addWarning(fault);
  const parameter = new CfnParameter(stack, 'RequiredOptionsAreUnset', { description: fault });
  Validations.of(parameter).acknowledge({
    id: 'CloudFormation-Validate::W2001',
    reason: 'It is there to be without a value.',
  });
};

/** Marks the stages that must not be deployed. `caller`: the account of the credentials, if there are any. */
export const refuseDeploys = (
  stages: readonly { readonly config: Config; readonly data: DataStack; readonly api: ApiStack }[],
  caller: string | undefined,
): void => {
  const all = STAGE_NAMES.map(
    (name) => stages.find(({ config }) => config.stage === name)?.config ?? configOf(name),
  );
  for (const { config, data, api } of stages) {
    for (const stack of [data, api]) {
      for (const fault of unsetOptions(config)) refuseUnset(stack, fault);
      for (const fault of sharedAccounts(config, all, caller)) Annotations.of(stack).addError(fault);
    }
  }
};

/** Adds both stacks of a stage. */
export const addStage = (app: App, config: Config, { bundles, release }: Built) => {
  const data = new DataStack(app, config);
  const api = new ApiStack(app, { config, bundles, data, release });
  const tags = { service: 'buyer-linking', stage: config.stage, ...config.tags };
  for (const stack of [data, api]) {
    for (const [name, value] of Object.entries(tags)) Tags.of(stack).add(name, value);
    if (config.permissionsBoundary !== null) {
      PermissionsBoundary.of(stack).apply(
        ManagedPolicy.fromManagedPolicyArn(stack, 'Boundary', config.permissionsBoundary),
      );
    }
  }
  return { config, data, api };
};
