import { App } from 'aws-cdk-lib';
import { addStage } from '#lib/app.ts';
import { bundleFunctions } from '#lib/bundling.ts';
import { ConfigError } from '#lib/config.ts';
import { releaseOf } from '#lib/release.ts';
import { configOf } from '#lib/stages.ts';

/** The CDK app of one stage, `-c stage=<name>`. The CDK CLI runs this file; bin/stage.ts runs the CDK CLI. */
const app = new App();
try {
  const { stage, ...changes } = app.node.getAllContext();
  const config = configOf(stage, changes);
  addStage(app, config, { bundles: await bundleFunctions({ outDir: '.build' }), release: releaseOf() });
  app.synth();
} catch (error) {
  // The message of a ConfigError names every fault; its stack trace would add nothing.
  if (!(error instanceof ConfigError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
