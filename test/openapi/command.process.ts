/** `npm run openapi` and its check, in a copy of the repository that has no git history. */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import document from '../../openapi.json' with { type: 'json' };

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url));
const PARTS = [
  'admin/cli/escaped.ts',
  'bin',
  'openapi',
  'shared',
  'package.json',
  'redocly.yaml',
  'openapi.json',
  'client/src/generated',
];

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'buyer-linking-openapi-'));
  for (const part of PARTS) cpSync(join(REPOSITORY, part), join(folder, part), { recursive: true });
  symlinkSync(join(REPOSITORY, 'node_modules'), join(folder, 'node_modules'));
  mkdirSync(join(folder, 'tmp'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const { NODE_COMPILE_CACHE: _, ...env } = process.env;

const openapi = (...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['bin/openapi.ts', ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...env, TMPDIR: join(folder, 'tmp') },
  });
  return { status, output: stdout + stderr };
};

const textOf = (file: string): string => readFileSync(join(folder, file), 'utf8');

const replace = (file: string, from: string, to: string): void => {
  expect(textOf(file)).toContain(from);
  writeFileSync(join(folder, file), textOf(file).replace(from, to));
};

const VERSION: string = document.info.version;
const [major, minor, patch] = VERSION.split('.').map(Number) as [number, number, number];

const setVersion = (version: string): void =>
  replace('openapi/document.ts', `INTERFACE_VERSION = '${VERSION}'`, `INTERFACE_VERSION = '${version}'`);

describe('npm run openapi:check', () => {
  it("names each fault: a changed route table or version, an operation that the client's types lack, a document that is not valid OpenAPI", () => {
    setVersion(`${major}.${minor}.${patch + 1}`);
    replace('client/src/generated/openapi.ts', '    "list-events": {', '    "list-all-events": {');
    replace('openapi/document.ts', "in: 'header',", "in: 'head',");
    const { status, output } = openapi('--check');
    expect(status).toBe(1);
    for (const fault of [
      'differs from the route table',
      'is behind the route table. Run `npm ci --prefix client` once, then `npm run openapi`.',
      'swagger-parser',
    ])
      expect(output).toContain(fault);
  });

  it('passes when npm run openapi has written a changed document, and leaves no compiled code in the temporary folder, where another user of the machine could plant some', () => {
    setVersion(`${major}.${minor}.${patch + 1}`);
    openapi();
    expect(openapi('--check')).toEqual({
      status: 0,
      output: expect.stringContaining('the document is current and valid; no release to compare it with.'),
    });
    expect(readdirSync(join(folder, 'tmp'))).toEqual([]);
  });
});
