import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type RunningService, startRunningService } from '#test/service/running-service.ts';
import type { Command, SavedFile } from './page.ts';

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url));

/** Not part of a fresh clone. */
const LEFT_OUT = ['node_modules', '.git', '.local', '.site', '.build', 'cdk.out', 'dist', 'coverage'];

/** A person with a clone of the repository, a terminal in it, and `npm start` in another terminal. */
export interface Reader {
  readonly service: RunningService;
  /** The folder around the clone. */
  readonly home: string;
  /** Follows the steps of a page in a new shell, with a demo key. Returns what each of its commands printed. Throws if one fails. */
  follow(
    steps: readonly (Command | SavedFile)[],
    key?: keyof RunningService['demo']['keys'],
  ): Promise<readonly string[]>;
  /** Compiles TypeScript programs that the reader saved. Returns the errors. */
  compile(programs: readonly string[]): Promise<string>;
  leave(): Promise<void>;
}

/** The options of a strict project of a seller. `jose` and the client are checked by their own types. */
const STRICTEST = [
  '--noEmit --strict --noPropertyAccessFromIndexSignature --noUncheckedIndexedAccess --exactOptionalPropertyTypes',
  '--noImplicitReturns --verbatimModuleSyntax --module nodenext --target es2022 --lib es2023,dom --types node',
].flatMap((line) => line.split(' '));

const MARK = '\u0001';

/** Of the pages only the address is replaced: port 3000 may be in use. */
const scriptOf = (steps: readonly (Command | SavedFile)[], address: string): string =>
  steps
    .map((step) =>
      'name' in step
        ? `cat > ${step.name} <<'END OF FILE'\n${step.text}END OF FILE`
        : `printf '${MARK}'\n${step.text}`,
    )
    .join('\n')
    .replaceAll('http://localhost:3000', address);

/** The environment of a reader who has set address and key as the quick start says, without what `npm run` adds to it, and with this Node. */
const environment = (own: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(?:npm_(?:package|lifecycle)_|npm_config_local_prefix|INIT_CWD)/.test(name),
    ),
  ),
  PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
  npm_config_update_notifier: 'false',
  ...own,
});

const runScript = async (script: string, folder: string, own: NodeJS.ProcessEnv): Promise<string> => {
  const shell = spawn('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: folder,
    env: environment(own),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output: string[] = [];
  const errors: string[] = [];
  shell.stdout.setEncoding('utf8').on('data', (text: string) => output.push(text));
  shell.stderr.setEncoding('utf8').on('data', (text: string) => errors.push(text));
  const [code] = await once(shell, 'close');
  if (code !== 0) throw new Error(`a command ended with ${code}:\n${output.join('')}${errors.join('')}`);
  return output.join('');
};

/** Copies the files of the repository into a folder of their own and starts the service with its data there. */
export const newReader = async (): Promise<Reader> => {
  const home = await mkdtemp(join(tmpdir(), 'buyer-linking-reader-'));
  const clone = join(home, 'buyer-linking');
  await mkdir(clone);
  await cp(REPOSITORY, clone, { recursive: true, filter: (path) => !LEFT_OUT.includes(basename(path)) });
  const service = await startRunningService({ folder: join(clone, '.local'), withSite: true });
  return {
    service,
    home,
    async follow(steps, key = 'free') {
      const { base_url, keys } = service.demo;
      const own = { BUYER_LINKING_URL: base_url, BUYER_LINKING_API_KEY: keys[key] };
      const output = await runScript(scriptOf(steps, base_url), clone, own);
      return output.split(MARK).slice(1);
    },
    async compile(programs) {
      const compiler = join(REPOSITORY, 'node_modules/@typescript/native/bin/tsc');
      const args = [
        compiler,
        '--singleThreaded',
        ...STRICTEST,
        '--typeRoots',
        join(REPOSITORY, 'node_modules/@types'),
        ...programs,
      ];
      return promisify(execFile)(process.execPath, args, { cwd: join(home, 'shop') }).then(
        () => '',
        ({ stdout }: { readonly stdout: string }) => stdout,
      );
    },
    async leave() {
      await service.stop();
      await rm(home, { recursive: true, force: true });
    },
  };
};
