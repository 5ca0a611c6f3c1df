import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { delimiter, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Runs the CDK CLI with these arguments and returns its exit code. */
export type RunCdk = (
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
) => Promise<number>;

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Runs the pinned CDK CLI in this terminal. Its app must run on this Node, and not on another one of the machine. */
export const runCdk: RunCdk = async (args, environment) => {
  const cli = createRequire(import.meta.url).resolve('aws-cdk/bin/cdk');
  const path = `${dirname(process.execPath)}${delimiter}${process.env.PATH ?? ''}`;
  const child = spawn(process.execPath, [cli, ...args, '--no-notices'], {
    cwd: ROOT,
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
