/** The import rules of `npm run lint`, tried in a folder of their own: a pattern with a mistake would let every import pass. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const REPOSITORY = fileURLToPath(new URL('..', import.meta.url));
const CRUISER = join(REPOSITORY, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs');

/** Which folders each folder may import from, besides itself. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  shared: [],
  lib: ['shared'],
  openapi: ['shared'],
  functions: ['shared'],
  admin: ['shared'],
  local: ['lib', 'openapi', 'functions', 'admin', 'shared'],
  bin: ['local', 'lib', 'openapi', 'functions', 'admin', 'shared'],
  bench: ['local', 'lib', 'openapi', 'functions', 'admin', 'shared'],
  test: ['bench', 'bin', 'local', 'lib', 'openapi', 'functions', 'admin', 'shared'],
};

const FOLDERS = Object.keys(ALLOWED);

let project: string;

beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'buyer-linking-imports-'));
  for (const file of ['.dependency-cruiser.mjs', 'package.json'])
    copyFileSync(join(REPOSITORY, file), join(project, file));
  for (const folder of FOLDERS) write(`${folder}/target.ts`, 'export type Target = string;\n');
});

afterEach(() => rmSync(project, { recursive: true, force: true }));

const write = (file: string, text: string): void => {
  mkdirSync(dirname(join(project, file)), { recursive: true });
  writeFileSync(join(project, file), text);
};

/** The rules that are violated, each with the file or folder that violates it. */
const violations = (): readonly string[] => {
  const args = [CRUISER, '--output-type', 'json', ...FOLDERS];
  const { stdout } = spawnSync(process.execPath, args, { cwd: project, encoding: 'utf8' });
  const { summary } = JSON.parse(stdout) as {
    summary: { violations: readonly { from: string; rule: { name: string } }[] };
  };
  return [...new Set(summary.violations.map(({ from, rule }) => `${rule.name}: ${from}`))].sort();
};

describe('the direction of imports', () => {
  it('is checked between every two folders, for relative, subpath and type-only imports; bench/ may import test/simulators/', () => {
    const forbidden: string[] = [];
    write('test/simulators/registry.ts', 'export const registry = 1;\n');
    write('bench/registry.ts', "import '#test/simulators/registry.ts';\n");
    for (const from of FOLDERS) {
      for (const to of FOLDERS.filter((folder) => folder !== from)) {
        write(`${from}/${to}.ts`, `import '../${to}/target.ts';\n`);
        write(`${from}/${to}-subpath.ts`, `import '#${to}/target.ts';\n`);
        write(
          `${from}/${to}-type.ts`,
          `import type { Target } from '#${to}/target.ts';\nexport type A = Target;\n`,
        );
        if (ALLOWED[from]?.includes(to)) continue;
        for (const kind of ['', '-subpath', '-type'])
          forbidden.push(`${from}-imports: ${from}/${to}${kind}.ts`);
      }
    }
    expect(violations().filter((violation) => !violation.startsWith('folder-cycles'))).toEqual(
      forbidden.sort(),
    );
  });
});

describe('import cycles', () => {
  it('are found between two files, and between folders although no two files import each other', () => {
    write('shared/a.ts', "import { b } from './b.ts';\nexport const a = () => b;\n");
    write('shared/b.ts', "import { a } from './a.ts';\nexport const b = () => a;\n");
    write('shared/c.ts', "import type { D } from '#shared/d.ts';\nexport type C = D[];\n");
    write('shared/d.ts', "import type { C } from '#shared/c.ts';\nexport type D = C[];\n");
    write('shared/one/a.ts', "import { b } from '#shared/two/b.ts';\nexport const a = b;\n");
    write('shared/two/b.ts', 'export const b = 1;\n');
    write('shared/two/c.ts', "import type { E } from '../one/e.ts';\nexport type C = E;\n");
    write('shared/one/e.ts', 'export type E = string;\n');
    expect(violations()).toEqual([
      'file-cycles: shared/a.ts',
      'file-cycles: shared/c.ts',
      'folder-cycles: shared/one',
      'folder-cycles: shared/two',
    ]);
  });

  it('are reported with the imports that make them', () => {
    write('shared/one/a.ts', "import { b } from '#shared/two/b.ts';\nexport const a = b;\n");
    write('shared/one/e.ts', 'export type E = string;\n');
    write('shared/two/b.ts', 'export const b = 1;\n');
    write('shared/two/c.ts', "import type { E } from '../one/e.ts';\nexport type C = E;\n");
    const reporter = `plugin:${join(REPOSITORY, 'bin/import-report.mjs')}`;
    const { stdout, status } = spawnSync(process.execPath, [CRUISER, '--output-type', reporter, ...FOLDERS], {
      cwd: project,
      encoding: 'utf8',
    });
    expect(status).not.toBe(0);
    expect(stdout).toContain(
      [
        'folder-cycles: shared/one → shared/two → shared/one',
        '    shared/one/a.ts imports shared/two/b.ts',
        '    shared/two/c.ts imports shared/one/e.ts',
      ].join('\n'),
    );
  });

  it('are found between local/gateway/ and the files of local/', () => {
    write('local/plans.ts', "import './gateway/check.ts';\n");
    write('local/gateway/check.ts', "import type { Target } from '../target.ts';\nexport type A = Target;\n");
    expect(violations()).toEqual(['gateway-imports: local/gateway/check.ts']);
  });
});
