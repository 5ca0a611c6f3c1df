/** Compares the exports that go away with the imports of what is deployed. Exits 2 on a wrong command line. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { exportsInUse } from '#lib/deploy-order.ts';
import { apiStackName, dataStackName } from '#lib/outputs.ts';
import { STAGE_NAMES } from '#lib/stages.ts';
import { commandLine, wrongCommandLine } from './command-line.ts';

const USAGE = `Usage: node bin/deploy-order.ts <folder of the checkout that is deployed>

Says to which stages the stacks of this checkout cannot be deployed at once, as
annotations of GitHub. Run npm run synth in both first.`;

const [deployedFolder = wrongCommandLine('Name the folder of the checkout that is deployed')] = commandLine(
  USAGE,
  { allowPositionals: true },
).positionals;
for (const folder of [deployedFolder, '.'])
  if (!existsSync(join(folder, 'cdk.out')))
    wrongCommandLine(`${folder} has no cdk.out: run npm run synth there`);

const templateIn = (folder: string, stage: string, stack: string) => {
  const file = join(folder, 'cdk.out', stage, `${stack}.template.json`);
  // A stage that is new, or that has gone.
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
};

for (const stage of STAGE_NAMES) {
  const api = templateIn(deployedFolder, stage, apiStackName(stage));
  const data = templateIn('.', stage, dataStackName(stage));
  const inUse = exportsInUse({ api }, { data });
  if (inUse.length > 0) {
    const order = `first "-f stacks=api", then "-f stacks=all" (npm run deploy -- --stage ${stage} --api, then without --api)`;
    console.log(
      `::warning title=Order of the deploys of ${stage}::${order}: the deployed API stack still imports ${inUse.join(', ')}.`,
    );
  }
}
