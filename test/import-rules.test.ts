/** The import rules of `npm run lint`, each tried in a folder of its own: a pattern with a mistake would let every import pass. */
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const REPOSITORY = fileURLToPath(new URL('..', import.meta.url));
const FOLDER_CYCLES = join(REPOSITORY, 'bin/folder-cycles.ts');
const BIOME = join(REPOSITORY, 'node_modules/@biomejs/biome/bin/biome');

/** Which folders each folder may import from, besides itself. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  shared: [],
  lib: ['shared'],
  functions: ['shared'],
  admin: ['shared'],
  local: ['lib', 'functions', 'admin', 'shared'],
  bin: ['local', 'lib', 'functions', 'admin', 'shared'],
  bench: ['local', 'lib', 'functions', 'admin', 'shared'],
  test: ['bench', 'bin', 'local', 'lib', 'functions', 'admin', 'shared'],
};

const FOLDERS = Object.keys(ALLOWED);

let project: string;

beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'buyer-linking-imports-'));
  for (const file of ['biome.json', 'package.json'])
    copyFileSync(join(REPOSITORY, file), join(project, file));
  execFileSync('git', ['init', '--quiet'], { cwd: project });
});

afterEach(() => rmSync(project, { recursive: true, force: true }));

const write = (file: string, text: string): void => {
  mkdirSync(dirname(join(project, file)), { recursive: true });
  writeFileSync(join(project, file), text);
};

/** The files that violate a rule, as `npm run lint` finds them. */
const violations = (rule: string): readonly string[] => {
  const { stdout } = spawnSync(
    process.execPath,
    [BIOME, 'lint', `--only=${rule}`, '--reporter=json', '--max-diagnostics=none', '.'],
    { cwd: project, encoding: 'utf8' },
  );
  const { diagnostics } = JSON.parse(stdout) as {
    diagnostics: readonly { category: string; location: { path: string } }[];
  };
  return diagnostics
    .filter(({ category }) => category === `lint/${rule}`)
    .map(({ location }) => location.path)
    .sort();
};

const PAIRS = FOLDERS.flatMap((from) => FOLDERS.map((to) => [from, to] as const));

const forbidden = (from: string, to: string): boolean => from !== to && ALLOWED[from]?.includes(to) === false;

describe('the direction of imports', () => {
  it.each([
    ['a subpath import', (to: string) => `#${to}/target.ts`],
    ['a relative import', (to: string) => `../../${to}/target.ts`],
  ])('is checked for %s between every two folders', (_title, specifier) => {
    for (const [from, to] of PAIRS) write(`${from}/part/${to}.ts`, `import '${specifier(to)}';\n`);
    expect(violations('style/noRestrictedImports')).toEqual(
      PAIRS.filter(([from, to]) => forbidden(from, to))
        .map(([from, to]) => `${from}/part/${to}.ts`)
        .sort(),
    );
  });

  it('is checked for a type-only import', () => {
    write('shared/clock.ts', "import type { Config } from '#lib/config.ts';\nexport type Clock = Config;\n");
    expect(violations('style/noRestrictedImports')).toEqual(['shared/clock.ts']);
  });
});

describe('import cycles', () => {
  it.each([
    [
      'values',
      'import { b } from',
      'export const a = () => b;',
      'import { a } from',
      'export const b = () => a;',
    ],
    [
      'types',
      'import type { B } from',
      'export type A = B[];',
      'import type { A } from',
      'export type B = A[];',
    ],
  ])('are found between two files that import %s', (_title, importB, a, importA, b) => {
    write('shared/one/a.ts', `${importB} '#shared/two/b.ts';\n${a}\n`);
    write('shared/two/b.ts', `${importA} '../one/a.ts';\n${b}\n`);
    write('shared/two/c.ts', "import { b } from './b.ts';\nexport const c = b;\n");
    expect(violations('suspicious/noImportCycles')).toEqual(['shared/one/a.ts', 'shared/two/b.ts']);
  });
});

/** The exit code and the output of the check for cycles of folders. */
const folderCycles = () => {
  const { status, stderr } = spawnSync(process.execPath, [FOLDER_CYCLES], { cwd: project, encoding: 'utf8' });
  return { status, lines: stderr.split('\n').map((line) => line.trim()) };
};

describe('cycles of folders', () => {
  it('are found although no two files import each other, and each import is named', () => {
    write('shared/one/a.ts', "import { b } from '#shared/two/b.ts';\nexport const a = b;\n");
    write('shared/two/b.ts', 'export const b = 1;\n');
    write('shared/two/c.ts', "import type {\n  D,\n} from '../d.ts';\nexport type C = D;\n");
    write('shared/d.ts', "export type { E as D } from './one/e.ts';\n");
    write('shared/one/e.ts', 'export type E = string;\n');
    const { status, lines } = folderCycles();
    expect(status).toBe(1);
    expect(lines).toEqual(
      expect.arrayContaining([
        'shared/one/a.ts imports shared/two/b.ts',
        'shared/two/c.ts imports shared/d.ts',
        'shared/d.ts imports shared/one/e.ts',
      ]),
    );
  });

  it('are found between a folder and a folder inside it', () => {
    write('bin/admin/a.ts', "import './commands/b.ts';\n");
    write('bin/admin/commands/b.ts', '');
    write('bin/admin/commands/c.ts', "const { d } = await import('../d.ts');\n");
    expect(folderCycles().status).toBe(1);
  });

  it('are no cycles where the imports point one way, whatever the number of files', () => {
    write('shared/one/a.ts', "import { c } from '../two/c.ts';\nexport const a = c;\n");
    write('shared/one/b.ts', "import { a } from './a.ts';\nimport '#shared/d.ts';\nexport const b = a;\n");
    write('shared/two/c.ts', "import '../d.ts';\nexport const c = 1;\n");
    write('shared/d.ts', "import '#shared/e.ts';\n");
    write('shared/e.ts', '');
    expect(folderCycles()).toEqual({ status: 0, lines: [''] });
  });
});
