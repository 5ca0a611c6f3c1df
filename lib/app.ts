import { Annotations, type App, Tags, Validations } from 'aws-cdk-lib';
import { ManagedPolicy, PermissionsBoundary } from 'aws-cdk-lib/aws-iam';
import { AwsSolutionsChecks } from 'cdk-nag';
import { ApiStack } from './api-stack.ts';
import type { Bundles } from './bundling.ts';
import type { Config } from './config.ts';
import { DataStack } from './data-stack.ts';
import { deployFaults } from './deploy-rules.ts';
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
 * Adds an error annotation to both stacks of a stage that must not be deployed: the CDK CLI then refuses a diff and a deploy of either
 * one, and `npm run synth`, which ignores errors, prints it. `caller`: the account of the credentials, if there are any.
 */
export const refuseDeploys = (
  stages: readonly { readonly config: Config; readonly data: DataStack; readonly api: ApiStack }[],
  caller: string | undefined,
): void => {
  const all = STAGE_NAMES.map(
    (name) => stages.find(({ config }) => config.stage === name)?.config ?? configOf(name),
  );
  for (const { config, data, api } of stages) {
    for (const fault of deployFaults(config, { stages: all, caller })) {
      for (const stack of [data, api]) Annotations.of(stack).addError(fault);
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
