import { App } from 'aws-cdk-lib';
import { addStage } from '#lib/app.ts';
import { bundleFunctions } from '#lib/bundling.ts';
import { ConfigError } from '#lib/config.ts';
import { releaseOf } from '#lib/release.ts';
import { configOf } from '#lib/stages.ts';

/** The CDK app: `cdk synth`, `cdk diff` and `cdk deploy` run this file. */
const app = new App();
try {
  const config = configOf(app);
  addStage(app, config, { bundles: await bundleFunctions({ outDir: '.build' }), release: releaseOf() });
  app.synth();
} catch (error) {
  // The message of a ConfigError names every fault; its stack trace would add nothing.
  if (!(error instanceof ConfigError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
