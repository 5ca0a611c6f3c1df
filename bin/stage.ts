/**
 * `npm run bootstrap|synth|diff|deploy -- --stage <name>`: runs a command of the CDK CLI for one stage; `synth` without a stage for each. With
 * `--direct`, new versions of functions get all traffic at once. The CLI gets all other arguments.
 */
import './require-node.mjs';
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { STAGE_NAMES } from '#lib/stages.ts';
import { wrongCommandLine } from './command-line.ts';

const [command = '', ...args] = process.argv.slice(2).flatMap((arg) => arg.split(/(?<=^--stage)=/));

/** Removes an argument and the values after it from the command line, and returns them. */
const taken = (name: string, values: number): readonly string[] => {
  const at = args.indexOf(name);
  return at === -1 ? [] : args.splice(at, 1 + values);
};

const [isNamed, stage] = taken('--stage', 1);
const isDirect = taken('--direct', 0).length > 0;
const stages = STAGE_NAMES.filter((name) => stage === name || (command === 'synth' && isNamed === undefined));
if (stages.length === 0 && !args.includes('--help')) {
  const choice = STAGE_NAMES.map((name) => `--stage ${name}`).join(' or ');
  wrongCommandLine(
    stage === undefined ? `Name a stage: ${choice}` : `${choice}: there is no stage "${stage}"`,
  );
}

const cdk = createRequire(import.meta.url).resolve('aws-cdk/bin/cdk');
for (const name of stages.length === 0 ? STAGE_NAMES.slice(0, 1) : stages) {
  const context = ['--context', `stage=${name}`, ...(isDirect ? ['--context', 'direct=true'] : [])];
  const { status } = spawnSync(
    process.execPath,
    [cdk, command, ...args, ...context, '--output', `cdk.out/${name}`],
    { stdio: 'inherit' },
  );
  process.exitCode = process.exitCode || (status ?? 1);
}
