import { Annotations, type App, Tags, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { ApiStack } from './api-stack.ts';
import type { Bundles } from './bundling.ts';
import type { Config } from './config.ts';
import { DataStack } from './data-stack.ts';
import type { Release } from './release.ts';

/**
 * Adds the stacks of a stage. An unacknowledged finding of the AwsSolutions rules fails the synth. `faults`: why the stage must not be deployed.
 * The CDK CLI neither compares nor deploys a stack with an error. The data stack names each fault; the API stack is refused too, since it can be deployed alone.
 */
export const addStage = (
  app: App,
  config: Config,
  { bundles, release }: { readonly bundles: Bundles; readonly release: Release },
  faults: readonly string[] = [],
) => {
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  const data = new DataStack(app, config);
  const api = new ApiStack(app, { config, bundles, data, release });
  const tags = { ...config.tags, service: 'buyer-linking', stage: config.stage };
  for (const [name, value] of Object.entries(tags)) Tags.of(app).add(name, value);
  for (const fault of faults) Annotations.of(data).addError(fault);
  if (faults.length > 0)
    Annotations.of(api).addError(
      `The settings of the stage are not complete: ${data.stackName} names what is missing.`,
    );
  return { data, api };
};
