/**
 * `npm run bootstrap|synth|diff|deploy -- --stage <name>`: runs a command of the CDK CLI for one stage; `synth` without a stage for each. `--api`: the
 * API stack alone. The CLI gets all other arguments.
 */
import './require-node.mjs';
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { escaped } from '#admin/cli/escaped.ts';
import { configOf, deployFaults } from '#lib/config.ts';
import { apiStackName } from '#lib/outputs.ts';
import { STAGE_NAMES, STAGES, type StageName } from '#lib/stages.ts';
import { wrongCommandLine } from './command-line.ts';
import { credentialsFault } from './credentials.ts';

const [command = '', ...args] = process.argv
  .slice(2)
  .flatMap((arg) => arg.split(/(?<=^--(?:stage|profile))=/));

/** Removes an argument and the values after it from the command line, and returns them. */
const taken = (name: string, values: number): readonly string[] => {
  const at = args.indexOf(name);
  return at === -1 ? [] : args.splice(at, 1 + values);
};

const fail = (sentences: readonly string[]): never => {
  for (const sentence of sentences) console.error(escaped(sentence));
  process.exit(1);
};

const [isNamed, stage] = taken('--stage', 1);
const isApiAlone = taken('--api', 0).length > 0;
const isHelp = args.includes('--help');

const USAGE = `Usage: npm run ${command} -- --stage <name> [options]

  --stage <name>     a stage of lib/stages.ts; synth without it takes each
  --api              the API stack alone, where docs/operators says so
  --profile <name>   the AWS profile
  --yes              no question before changes that broaden permissions

All other options go to the CDK CLI:
`;
if (isHelp) console.log(USAGE);
const isSynth = command === 'synth';

const stages = STAGE_NAMES.filter((name) => stage === name || (isSynth && isNamed === undefined));
if (stages.length === 0 && !isHelp) {
  const choice = STAGE_NAMES.map((name) => `--stage ${name}`).join(' or ');
  wrongCommandLine(
    stage === undefined ? `Name a stage: ${choice}` : `${choice}: there is no stage "${stage}"`,
  );
}

/** Returns what the compiler finds in lib/stages.ts, such as a wrong name of a setting: Node strips the types and checks none. */
const typeFaults = (): readonly string[] => {
  // One thread: several check shared types once each, and take twice the CPU.
  const compiler = 'node_modules/@typescript/native/bin/tsc';
  const compile = [compiler, '--singleThreaded', '--project', 'lib/stages.tsconfig.json'];
  // The compiler names files relative to its folder.
  const cwd = fileURLToPath(new URL('..', import.meta.url));
  const { stdout } = spawnSync(process.execPath, compile, { cwd, encoding: 'utf8' });
  return stdout.split('\n').filter((line) => line.startsWith('lib/stages.ts('));
};
if (['synth', 'diff', 'deploy'].includes(command) && !isHelp && !args.includes('--app')) {
  const faults = typeFaults();
  if (faults.length > 0) fail(faults);
}

if (['diff', 'deploy'].includes(command) && !isHelp) {
  // CDK says the same after the synthesis, but not of a folder that `npm run synth` wrote (--app).
  const faults = stages.flatMap((name) => deployFaults(configOf(name), STAGE_NAMES.map(configOf)));
  if (faults.length > 0) fail(faults);
  // The workflow deploys the folder that its reviewers read (--app), and has asked GitHub for that run.
  if (command === 'deploy' && !args.includes('--app'))
    for (const name of stages.filter((each) => STAGES[each].keys === 'live'))
      console.error(
        `Note: only the workflow Deploy checks that this commit was deployed to dev and passed the smoke test there: in ${name} nothing links, sends or signs before the first buyer does.`,
      );
}
if (['bootstrap', 'diff', 'deploy'].includes(command) && !isHelp) {
  const [, profile] = args.slice(args.indexOf('--profile'));
  const fault = await credentialsFault(args.includes('--profile') ? profile : undefined);
  if (fault !== undefined) fail([fault]);
}

const stacksOf = (name: StageName): readonly string[] => {
  if (isApiAlone) return ['--exclusively', apiStackName(name)];
  return command === 'deploy' ? ['--all'] : [];
};

const cdk = createRequire(import.meta.url).resolve('aws-cdk/bin/cdk');
for (const name of stages.length === 0 ? STAGE_NAMES.slice(0, 1) : stages) {
  const contextOf = [`stage=${name}`, ...(isSynth ? ['synth=true'] : [])].flatMap((each) => [
    '--context',
    each,
  ]);
  const { status } = spawnSync(
    process.execPath,
    [cdk, command, ...args, ...stacksOf(name), ...contextOf, '--output', `cdk.out/${name}`],
    { stdio: 'inherit' },
  );
  process.exitCode = process.exitCode || (status ?? 1);
}
