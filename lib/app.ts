import { Annotations, type App, Tags, Validations } from 'aws-cdk-lib';
import { ManagedPolicy, PermissionsBoundary } from 'aws-cdk-lib/aws-iam';
import { AwsSolutionsChecks } from 'cdk-nag';
import { ApiStack } from './api-stack.ts';
import type { Bundles } from './bundling.ts';
import type { Config } from './config.ts';
import { DataStack } from './data-stack.ts';
import type { Release } from './release.ts';

/** Adds both stacks of a stage. An unacknowledged finding of the AwsSolutions rules fails the synth. */
export const addStage = (
  app: App,
  config: Config,
  { bundles, release }: { readonly bundles: Bundles; readonly release: Release },
) => {
  const data = new DataStack(app, config);
  const api = new ApiStack(app, { config, bundles, data, release });
  Tags.of(app).add('service', 'buyer-linking');
  Tags.of(app).add('stage', config.stage);
  for (const [name, value] of Object.entries(config.tags ?? {})) Tags.of(app).add(name, value);
  if (config.permissionsBoundary !== null) {
    PermissionsBoundary.of(app).apply(
      ManagedPolicy.fromManagedPolicyArn(api, 'Boundary', config.permissionsBoundary),
    );
  }
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  if (config.stage === 'prod' && config.alarms === null) {
    Annotations.of(api).addWarningV2(
      'buyer-linking:alarms-without-receiver',
      'The alarms of prod have no receiver: set "alarms" in lib/stages.ts.',
    );
  }
  return { data, api };
};
