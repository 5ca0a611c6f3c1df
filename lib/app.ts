import { Annotations, type App, Tags, Validations } from 'aws-cdk-lib';
import { ManagedPolicy, PermissionsBoundary } from 'aws-cdk-lib/aws-iam';
import { AwsSolutionsChecks } from 'cdk-nag';
import { ApiStack } from './api-stack.ts';
import type { Bundles } from './bundling.ts';
import type { Config } from './config.ts';
import { DataStack } from './data-stack.ts';
import type { Release } from './release.ts';

interface Built {
  readonly bundles: Bundles;
  readonly release: Release;
}

/** Adds the stacks of the stages. An unacknowledged finding of the AwsSolutions rules fails the synth. */
export const addStages = (app: App, configs: readonly Config[], built: Built) => {
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  return configs.map((config) => addStage(app, config, built));
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
  if (config.stage === 'prod' && config.alarms === null) {
    Annotations.of(api).addWarningV2(
      'buyer-linking:alarms-without-receiver',
      'The alarms of prod have no receiver: set "alarms" in lib/stages.ts.',
    );
  }
  return { data, api };
};
