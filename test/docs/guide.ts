import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import type { RunningService } from '#test/service/running-service.ts';

const REPOSITORY = new URL('../../', import.meta.url);

/** A fenced block of a guide. */
export interface Block {
  readonly language: string;
  readonly text: string;
}

/** A block that runs, and the output that the guide shows for it. */
export interface Step {
  readonly run: Block;
  readonly shown: Block | undefined;
}

const RUNNABLE = ['sh', 'ts', 'python'];
const SHOWN = ['json', 'text', 'http'];

/** Returns the blocks of a Markdown file that run, in order, each with the output that the file shows. */
export const stepsOf = async (file: string): Promise<readonly Step[]> => {
  const markdown = await readFile(new URL(file, REPOSITORY), 'utf8');
  const blocks = [...markdown.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(
    ([, language, text]): Block => ({ language: String(language), text: String(text) }),
  );
  return blocks.flatMap((run, index) => {
    if (!RUNNABLE.includes(run.language)) return [];
    const next = blocks[index + 1];
    return [{ run, shown: next !== undefined && SHOWN.includes(next.language) ? next : undefined }];
  });
};

const isOnPath = (command: string): boolean =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, command)));

/** Returns the commands that a guide calls and this machine lacks. */
export const missingCommands = (file: string): readonly string[] => {
  const usesPython = readFileSync(new URL(file, REPOSITORY), 'utf8').includes('```python');
  const needed = ['bash', 'curl', 'sort', ...(usesPython ? ['python3'] : [])];
  return needed.filter((command) => !isOnPath(command));
};

/** Replaces what differs from a reader's machine: the service's address, its demo file, the client of this checkout. */
const localize = (text: string, { demo, folder }: RunningService): string =>
  text
    .replaceAll('http://localhost:3000', demo.base_url)
    .replaceAll('./.local/demo.json', join(folder, 'demo.json'))
    .replaceAll("'buyer-linking-client'", `'${new URL('client/src/index.ts', REPOSITORY)}'`)
    .replaceAll("'jose'", `'${import.meta.resolve('jose')}'`);

const COMMANDS: Readonly<Record<string, string>> = { ts: 'node', python: 'python3' };

/** Returns the lines of a shell script that runs a step, with its number before its output. */
const scriptOf = async (
  step: Step,
  index: number,
  folder: string,
  service: RunningService,
): Promise<string> => {
  const text = localize(step.run.text, service);
  const fence = `printf '\\n%s\\n' 'step ${index}'`;
  const command = COMMANDS[step.run.language];
  if (command === undefined) return `${fence}\n${text}`;
  const file = join(folder, `step-${index}.${command === 'node' ? 'mts' : 'py'}`);
  await writeFile(file, text);
  return `${fence}\n${command} ${file}`;
};

/** Runs a guide's blocks in order in one shell, as a reader would. Returns the output of each. */
export const runSteps = async (
  steps: readonly Step[],
  service: RunningService,
): Promise<readonly string[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'buyer-linking-guide-'));
  try {
    const parts = await Promise.all(steps.map((step, index) => scriptOf(step, index, folder, service)));
    const shell = spawn('bash', ['-euo', 'pipefail', '-c', parts.join('\n')], {
      cwd: folder,
      env: { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}` },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output: string[] = [];
    const errors: string[] = [];
    shell.stdout.setEncoding('utf8').on('data', (text: string) => output.push(text));
    shell.stderr.setEncoding('utf8').on('data', (text: string) => errors.push(text));
    const [code] = await once(shell, 'close');
    if (code !== 0) throw new Error(`the guide ended with ${code}: ${errors.join('')}${output.join('')}`);
    return output
      .join('')
      .split(/\nstep \d+\n/)
      .slice(1);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/** Fields that differ from run to run: only their type is compared. */
const VOLATILE = ['id', 'request_id', 'created_at', 'access_token'];

const masked = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, VOLATILE.includes(key) ? typeof inner : masked(inner)]),
  );
};

const linesOf = (text: string): string[] => text.trim().split(/\r?\n/);

const withoutNumbers = (line: string): string =>
  line.replace(/[rt]=\d+/g, (part) => `${part[0]}=N`).toLowerCase();

/**
 * Returns the output and what the guide shows, in comparable form. Of HTTP only the lines that are shown must exist; a block without
 * shown output must only succeed.
 */
export const compared = ({ shown }: Step, printed: string): readonly [unknown, unknown] => {
  if (shown === undefined) return ['', ''];
  if (shown.language === 'json') return [masked(JSON.parse(printed)), masked(JSON.parse(shown.text))];
  if (shown.language === 'text') return [linesOf(printed), linesOf(shown.text)];
  const present = linesOf(printed).map(withoutNumbers);
  const expected = linesOf(shown.text).map(withoutNumbers);
  return [expected.filter((line) => present.includes(line)), expected];
};
