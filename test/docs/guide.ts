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

/** A block that runs, and the answer that the guide shows for it. */
export interface Step {
  readonly run: Block;
  readonly shown: Block | undefined;
}

const RUNNABLE = ['sh', 'ts', 'python'];
const SHOWN = ['json', 'text', 'http'];

/** The blocks of a Markdown file that run, in order, each with what it is shown to print. */
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

/** The commands that a guide calls and this machine does not have. */
export const missingCommands = (file: string): readonly string[] => {
  const asksForPython = readFileSync(new URL(file, REPOSITORY), 'utf8').includes('```python');
  const needed = ['bash', 'curl', 'sort', ...(asksForPython ? ['python3'] : [])];
  return needed.filter((command) => !isOnPath(command));
};

/** Where a reader would be: the service's address, its demo file, the client as it is in this checkout. */
const localize = (text: string, { demo, folder }: RunningService): string =>
  text
    .replaceAll('http://localhost:3000', demo.base_url)
    .replaceAll('./.local/demo.json', join(folder, 'demo.json'))
    .replaceAll("'buyer-linking-client'", `'${new URL('client/src/index.ts', REPOSITORY)}'`)
    .replaceAll("'jose'", `'${import.meta.resolve('jose')}'`);

const COMMANDS: Readonly<Record<string, string>> = { ts: 'node', python: 'python3' };

/** The lines of one shell script that runs a step, its output fenced by its number. */
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

/** Runs a guide's blocks one after the other in one shell, as a reader would; gives what each printed. */
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
    const complaints: string[] = [];
    shell.stdout.setEncoding('utf8').on('data', (text: string) => output.push(text));
    shell.stderr.setEncoding('utf8').on('data', (text: string) => complaints.push(text));
    const [code] = await once(shell, 'close');
    if (code !== 0) throw new Error(`the guide ended with ${code}: ${complaints.join('')}${output.join('')}`);
    return output
      .join('')
      .split(/\nstep \d+\n/)
      .slice(1);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/** What differs from one run to the next: a guide can show only the kind of it. */
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
 * What was printed and what the guide shows, made comparable. Of HTTP only the lines that are shown must be there; a block without an
 * answer must only end well.
 */
export const compared = ({ shown }: Step, printed: string): readonly [unknown, unknown] => {
  if (shown === undefined) return ['', ''];
  if (shown.language === 'json') return [masked(JSON.parse(printed)), masked(JSON.parse(shown.text))];
  if (shown.language === 'text') return [linesOf(printed), linesOf(shown.text)];
  const present = linesOf(printed).map(withoutNumbers);
  const expected = linesOf(shown.text).map(withoutNumbers);
  return [expected.filter((line) => present.includes(line)), expected];
};
