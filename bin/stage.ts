/** `npm run synth`, `npm run diff` and `npm run deploy`: the first argument is the command. */
import './require-node.mjs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { delimiter, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { processTerminal } from './admin/terminal.ts';
import { type RunCdk, run } from './stage/run.ts';

/** Runs the pinned CDK CLI in this terminal. Its app must run on this Node, and not on another one of the machine. */
const cdk: RunCdk = async (args, environment) => {
  const cli = createRequire(import.meta.url).resolve('aws-cdk/bin/cdk');
  const path = `${dirname(process.execPath)}${delimiter}${process.env.PATH ?? ''}`;
  const child = spawn(process.execPath, [cli, ...args, '--no-notices'], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    env: { ...process.env, PATH: path, ...environment },
    stdio: 'inherit',
  });
  // A Ctrl-C of the terminal reaches the CLI too, which then ends in its own way.
  const ignore = (): void => {};
  process.on('SIGINT', ignore);
  const [code] = (await once(child, 'close')) as [number | null];
  process.off('SIGINT', ignore);
  return code ?? 1;
};

process.exitCode = await run(process.argv.slice(2), { terminal: processTerminal(), cdk });
