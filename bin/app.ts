import { App } from 'aws-cdk-lib';
import { addStage } from '#lib/app.ts';
import { bundleFunctions } from '#lib/bundling.ts';
import { ConfigError } from '#lib/config.ts';
import { configOf } from '#lib/stages.ts';

/** What `cdk synth`, `diff` and `deploy` run. */
const app = new App();
try {
  const config = configOf(app);
  addStage(app, config, await bundleFunctions({ outDir: '.build' }));
  app.synth();
} catch (error) {
  // A config that is wrong is said in its own sentences; where the code stood helps nobody.
  if (!(error instanceof ConfigError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
