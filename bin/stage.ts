/**
 * `npm run synth|diff|deploy -- --stage <name> [--direct]`: runs a command of the CDK CLI for one stage. With --direct a new version gets
 * all traffic at once. The CLI gets all other arguments.
 */
import './require-node.mjs';
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { STAGE_NAMES } from '#lib/stages.ts';
import { wrongCommandLine } from './command-line.ts';

const STAGES = `--stage ${STAGE_NAMES.join(' or --stage ')}`;

const [command = '', ...args] = process.argv.slice(2).flatMap((arg) => arg.split(/(?<=^--stage)=/));
const stageAt = args.indexOf('--stage');
const [, stage] = stageAt === -1 ? [] : args.splice(stageAt, 2);
const directAt = args.indexOf('--direct');
const direct = directAt === -1 ? [] : args.splice(directAt, 1);

if (stage !== undefined && !STAGE_NAMES.some((name) => name === stage)) {
  wrongCommandLine(`There is no stage "${stage}": ${STAGES}`);
}
// A synth without a stage builds every stage, and changes nothing.
if (stage === undefined && command !== 'synth' && !args.includes('--help')) {
  wrongCommandLine(`Name a stage: ${STAGES}`);
}
const cdk = createRequire(import.meta.url).resolve('aws-cdk/bin/cdk');
const context = [
  ...(stage === undefined ? [] : ['--context', `stage=${stage}`]),
  ...direct.flatMap(() => ['--context', 'direct=true']),
];
const { status } = spawnSync(process.execPath, [cdk, command, ...args, ...context], { stdio: 'inherit' });
process.exitCode = status ?? 1;
