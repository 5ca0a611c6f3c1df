import { spawn } from 'node:child_process';
import { delimiter, dirname } from 'node:path';

interface CommandOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** Puts the running Node first on the PATH, so that commands start it and not another Node of the machine. */
export const withThisNode = (
  env: Readonly<Record<string, string | undefined>> = process.env,
): Record<string, string | undefined> => ({
  ...env,
  PATH: `${dirname(process.execPath)}${delimiter}${env.PATH ?? ''}`,
});

/** Runs a program and returns its output. Rejects with the output if it fails or cannot be started. */
export const runCommand = (
  program: string,
  args: readonly string[],
  { cwd, env = process.env }: CommandOptions = {},
): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env: { ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const take = (chunk: Buffer): void => {
      output += chunk.toString();
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) return resolve(output);
      reject(new Error(`${output}\n${program} ${args.join(' ')} ended with ${code}`));
    });
  });
