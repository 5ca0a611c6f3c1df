import { type ChildProcess, spawn } from 'node:child_process';
import { delimiter, dirname } from 'node:path';

export interface CommandOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** A prefix for the output, which is printed at once; without it, the output is part of the error only. */
  readonly label?: string;
}

/** Puts the running Node first on the PATH, so that commands start it and not another Node of the machine. */
export const withThisNode = (
  env: Readonly<Record<string, string | undefined>> = process.env,
): Record<string, string | undefined> => ({
  ...env,
  PATH: `${dirname(process.execPath)}${delimiter}${env.PATH ?? ''}`,
});

const collect = (child: ChildProcess, label: string | undefined): (() => string) => {
  let text = '';
  const take = (chunk: Buffer): void => {
    text += chunk.toString();
    if (label !== undefined) process.stdout.write(chunk.toString().replaceAll(/^(?=.)/gm, `${label} | `));
  };
  child.stdout?.on('data', take);
  child.stderr?.on('data', take);
  return () => text;
};

/** Runs a program and returns its output. Rejects with the output if it fails or cannot be started. */
export const runCommand = (
  program: string,
  args: readonly string[],
  { cwd, env = process.env, label }: CommandOptions = {},
): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env: { ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    const output = collect(child, label);
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) return resolve(output());
      const details = label === undefined ? `:\n${output()}` : ', see above';
      reject(new Error(`${program} ${args.join(' ')} ended with ${code}${details}`));
    });
  });
