import './require-node.mjs';
import { failureOf } from '#admin/cli/errors.ts';
import { commandLine, wrongCommandLine } from './command-line.ts';
import { NoRollback, rollback } from './rollback/run.ts';

const USAGE = `Usage: npm run rollback -- --stage <name> [options]

Points the aliases of the functions that the last deploy changed at the versions before
it, within a minute. Prints what it did and which settings change with it. Can be repeated.

  --forward              point the aliases at the versions of the last deploy again
  --remove-old-versions  delete all versions of a function but the last five and those
                         in service
  --dry-run              print what would be done
  --profile <name>       the AWS profile
  --region <name>        the AWS Region

Exit codes: 0 done, or nothing to do; 1 not possible now, or AWS refused a call; 2 wrong
command line.`;

const { values } = commandLine(USAGE, {
  options: {
    stage: { type: 'string' },
    forward: { type: 'boolean' },
    'remove-old-versions': { type: 'boolean' },
    'dry-run': { type: 'boolean' },
    profile: { type: 'string' },
    region: { type: 'string' },
  },
});
const { stage, forward, profile, region } = values;
const removeOldVersions = values['remove-old-versions'];
if (stage === undefined) wrongCommandLine('Name a stage: --stage prod');
if (forward && removeOldVersions) wrongCommandLine('Name one of --forward and --remove-old-versions');
// Every AWS client of this process reads these.
if (profile !== undefined) process.env.AWS_PROFILE = profile;
if (region !== undefined) process.env.AWS_REGION = region;

try {
  const options = { stage: stage ?? '', forward, removeOldVersions, dryRun: values['dry-run'] };
  await rollback(options, (line) => console.log(line));
} catch (error) {
  console.error(`error: ${error instanceof NoRollback ? error.message : failureOf(error).message}`);
  process.exitCode = 1;
}
