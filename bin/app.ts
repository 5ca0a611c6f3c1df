import { App } from 'aws-cdk-lib';
import { addStage } from '#lib/app.ts';
import { bundleFunctions } from '#lib/bundling.ts';
import { ConfigError, configOf, deployFaults, testKeyNotes } from '#lib/config.ts';
import { regionWarnings } from '#lib/region-warnings.ts';
import { releaseOf } from '#lib/release.ts';
import { addSite, builtSite } from '#lib/site.ts';
import { STAGE_NAMES } from '#lib/stages.ts';

/**
 * The CDK app: the stacks of `-c stage=<name>`, without it of dev (cdk.json). With `-c synth=true` settings that a deploy
 * requires are a note. The CDK CLI runs this file.
 */
const app = new App();
try {
  const config = configOf(app.node.tryGetContext('stage'));
  const isSynth = app.node.tryGetContext('synth') !== undefined;
  const bundles = await bundleFunctions({ outDir: '.build' });
  addSite(await builtSite(console.error), bundles.folderOf('get-docs'));
  // The CDK CLI sets the variable from the credentials.
  const faults = deployFaults(config, STAGE_NAMES.map(configOf), process.env.CDK_DEFAULT_ACCOUNT);
  const built = { bundles, release: releaseOf() };
  addStage(app, config, built, isSynth ? [] : faults);
  for (const line of [...regionWarnings(config), ...testKeyNotes(config)]) console.error(line);
  if (isSynth && faults.length > 0)
    console.error(
      `Note: ${config.stage} is not set up, and cannot be deployed yet (docs/operators/deploy.md, "Prod").`,
    );
  app.synth();
} catch (error) {
  // The message of a ConfigError names every fault; its stack trace would add nothing.
  if (!(error instanceof ConfigError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
