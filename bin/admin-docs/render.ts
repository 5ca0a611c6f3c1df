import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Service, startService } from '#local/service.ts';
import { run } from '../admin/run.ts';

/**
 * The template's language, a line each:
 *   `{{ <arguments> }}`            runs the command and shows it with its answer; <names> in it are filled in
 *   `{{ <name> = <arguments> }}`   the same, and keeps the first id of the answer under the name, the key in it under `<name>.secret`
 *   `{{ ! <arguments> }}`          runs it and shows nothing
 *   `{{ GET <count> <name> }}`     makes so many requests with the key of that name, and shows nothing
 *   `{{ FILE <name> }}`            writes the file that the import reads, and shows nothing
 */
const DIRECTIVE = /^\{\{ (?:(?<hidden>!) |(?<name>\w+) = )?(?<command>.+) \}\}$/;

const SECRET = /blk_(?:test|live)_[0-9A-Za-z]{38}/g;
const ID = /\b(?:sel|key)_[0-9A-Za-z]{22}\b/;
const SHOWN_OF_SECRET = 13;
const IMPORTED = 5000;

interface Stage {
  readonly service: Service;
  readonly folder: string;
  readonly values: Map<string, string>;
}

/** Every template line in its turn, against a service of its own that forgets everything at the end. */
export const render = async (template: string): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'admin-docs-'));
  const before = process.cwd();
  const service = await startService({
    port: 0,
    folder,
    inMemory: true,
    databaseEndpoint: undefined,
    onProgress: () => {},
    onCompleted: () => {},
    onMessage: () => {},
  });
  // The file of the import is named as a reader would name it.
  process.chdir(folder);
  try {
    const stage: Stage = { service, folder, values: new Map() };
    const lines: string[] = [];
    for (const line of template.split('\n')) lines.push(...(await renderLine(stage, line)));
    return lines.join('\n').replaceAll('```\n```console', '```\n\n```console');
  } finally {
    process.chdir(before);
    await service.stop();
    await rm(folder, { recursive: true });
  }
};

const renderLine = async (stage: Stage, line: string): Promise<readonly string[]> => {
  const { hidden, name, command = '' } = DIRECTIVE.exec(line)?.groups ?? {};
  if (command === '') return [line];
  const filled = command.replace(/<([\w.]+)>/g, (_, key: string) => kept(stage, key));
  if (filled.startsWith('GET ')) return callService(stage, filled);
  if (filled.startsWith('FILE ')) return writeImport(filled.slice('FILE '.length));
  const answer = await runCommand(stage, filled);
  if (name !== undefined) keep(stage, name, answer);
  return hidden === undefined ? shown(filled, answer) : [];
};

const kept = ({ values }: Stage, name: string): string => {
  const value = values.get(name);
  if (value === undefined) throw new Error(`the template uses ${name} before it is there`);
  return value;
};

const keep = ({ values }: Stage, name: string, answer: string): void => {
  values.set(name, ID.exec(answer)?.[0] ?? '');
  const secret = answer.match(SECRET)?.[0];
  if (secret !== undefined) values.set(`${name}.secret`, secret);
};

/** Words, or anything between double quotes. */
const argumentsOf = (command: string): string[] =>
  [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '');

const runCommand = async ({ folder }: Stage, command: string): Promise<string> => {
  let written = '';
  const write = (text: string): void => {
    written += text;
  };
  await run([...argumentsOf(command), '--data', folder], {
    out: write,
    error: write,
    isInteractive: false,
    canRedraw: false,
    columns: 80,
    ask: async () => '',
  });
  return written;
};

/** A key that was live once must not stand in a document: what is left of it opens nothing. */
const shown = (command: string, answer: string): readonly string[] => [
  '```console',
  `$ npm run admin -- ${command}`,
  ...answer
    .replace(SECRET, (secret) => `${secret.slice(0, SHOWN_OF_SECRET)}…`)
    .trimEnd()
    .split('\n'),
  '```',
];

const callService = async (stage: Stage, call: string): Promise<readonly string[]> => {
  const [, count, name] = call.split(' ');
  for (let made = 0; made < Number(count); made += 1) {
    const headers = { 'X-Api-Key': kept(stage, `${name}.secret`) };
    await (await fetch(`${stage.service.demo.base_url}/v1/users`, { headers })).text();
  }
  return [];
};

const writeImport = async (file: string): Promise<readonly string[]> => {
  const rows = Array.from(
    { length: IMPORTED },
    (_, index) => `Buyer ${index},0912${String(index).padStart(7, '0')}`,
  );
  rows[41] = 'Buyer 41,021 8877 6655';
  rows[1041] = 'Buyer 1041,';
  await writeFile(file, `name,phone\n${rows.join('\n')}\n`);
  return [];
};
