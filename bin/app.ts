import { App } from 'aws-cdk-lib';
import { addStages, refuseDeploys } from '#lib/app.ts';
import { bundleFunctions } from '#lib/bundling.ts';
import { ConfigError } from '#lib/config.ts';
import { releaseOf } from '#lib/release.ts';
import { configsOf } from '#lib/stages.ts';
import { addPages } from '#reference/pages/write-pages.ts';

/** The CDK app: the stacks of every stage, or with `-c stage=<name>` those of one. The CDK CLI runs this file. */
const app = new App();
try {
  const configs = configsOf(app.node.getAllContext());
  const bundles = await bundleFunctions({ outDir: '.build' });
  await addPages(bundles.folderOf);
  const stages = addStages(app, configs, { bundles, release: releaseOf() });
  // The CDK CLI sets the variable from the credentials.
  refuseDeploys(stages, process.env.CDK_DEFAULT_ACCOUNT);
  app.synth();
} catch (error) {
  // The message of a ConfigError names every fault; its stack trace would add nothing.
  if (!(error instanceof ConfigError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
