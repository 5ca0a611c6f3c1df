import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The program of `npm run admin`. */
export const PROGRAM = fileURLToPath(new URL('../../../bin/buyer-linking.mjs', import.meta.url));

/** The result of a command. `exitCode` is null if a signal ended it. */
export interface Ended {
  readonly exitCode: number | null;
  readonly out: string;
  readonly error: string;
}

/** Starts a program in a process of its own, without a terminal. `input`: its stdin. */
export const startProgram = (
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  input = '',
) => {
  const child = spawn(process.execPath, [program, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  });
  child.stdin.end(input);
  let out = '';
  let error = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    error += text;
  });
  const ended = once(child, 'close').then(([exitCode]): Ended => ({ exitCode, out, error }));
  return { child, ended };
};

/** Starts a command of the admin CLI. */
export const startCommand = (
  args: readonly string[],
  environment?: Readonly<Record<string, string>>,
  input?: string,
) => startProgram(PROGRAM, args, environment, input);

/** Returns the result of a command with --json, which must succeed. */
// biome-ignore lint/suspicious/noExplicitAny: the tests check the shape of the result.
export const jsonOf = async (command: Promise<Ended>): Promise<any> => {
  const ended = await command;
  expect(ended).toMatchObject({ exitCode: 0, error: '' });
  return JSON.parse(ended.out);
};
