import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { PROGRAM } from './cli-process.ts';

const SCRIPT = fileURLToPath(new URL('pseudo-terminal.py', import.meta.url));

const hasPython = spawnSync('python3', ['-c', 'import pty']).status === 0;

/** Several commands at once start slowly on a busy machine. */
const TIMEOUT_MS = 90_000;

/** A test that requires a pseudo-terminal. Node cannot create one, Python can. */
export const itOnTerminal = (title: string, run: () => Promise<void>): void =>
  hasPython ? it(title, run, TIMEOUT_MS) : it.skip(`${title} (skipped: no python3)`, run);

interface Options {
  readonly columns?: number;
  /** Texts of questions, and the keys that are typed when they appear. */
  readonly answers?: readonly (readonly [string, string])[];
  readonly environment?: Readonly<Record<string, string>>;
}

export const CTRL_C = '\u0003';
export const CTRL_D = '\u0004';

/** The variables, without those from which Node takes the colors of a terminal: a terminal has none where `CI` is set. */
const withoutColorSettings = (): NodeJS.ProcessEnv => {
  const { NO_COLOR: _, NODE_DISABLE_COLORS: __, FORCE_COLOR: ___, CI: ____, ...others } = process.env;
  return others;
};

/** Runs a command in a terminal of its own. `screen`: what it writes to stdout and stderr, with the echo of what was typed. */
export const onTerminal = async (
  { columns = 80, answers = [], environment = {} }: Options,
  ...args: readonly string[]
): Promise<{ readonly exitCode: number | null; readonly screen: string }> => {
  const child = spawn(
    'python3',
    [SCRIPT, String(columns), JSON.stringify(answers), process.execPath, PROGRAM, ...args],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...withoutColorSettings(), TERM: 'xterm-256color', ...environment },
    },
  );
  let screen = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text;
  });
  const [exitCode] = await once(child, 'close');
  return { exitCode, screen };
};
