/** `npm run openapi` and `npm run openapi:check` in a repository of their own. */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const REPOSITORY = fileURLToPath(new URL('../../../', import.meta.url));
const PARTS = ['bin', 'shared', 'package.json', 'redocly.yaml', 'openapi.json'];

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'buyer-linking-openapi-'));
  for (const part of PARTS) cpSync(join(REPOSITORY, part), join(folder, part), { recursive: true });
  symlinkSync(join(REPOSITORY, 'node_modules'), join(folder, 'node_modules'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], { cwd: folder });

const commit = (): void => {
  git('init', '--quiet');
  git('add', ...PARTS);
  git('commit', '--quiet', '--message', 'The interface as it was');
};

const openapi = (...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['bin/openapi.ts', ...args], {
    cwd: folder,
    encoding: 'utf8',
  });
  return { status, said: stdout + stderr };
};

const edit = (file: string, from: string, to: string): void => {
  const path = join(folder, file);
  const text = readFileSync(path, 'utf8');
  expect(text).toContain(from);
  writeFileSync(path, text.replace(from, to));
};

/** Users would have no phone any more. */
const breakInterface = (): void =>
  edit(
    'shared/users/schema.ts',
    "    phone: v.pipe(v.string(), v.description('E.164.')",
    "    mobile: v.pipe(v.string(), v.description('E.164.')",
  );

describe('the check of the OpenAPI document', () => {
  it('passes what is committed, and says so', () => {
    commit();
    expect(openapi('--check')).toEqual({ status: 0, said: expect.stringContaining('valid and compatible') });
  });

  it('fails if the document was not written anew', () => {
    commit();
    edit('shared/routes.ts', "summary: 'Link a buyer'", "summary: 'Link some buyer'");
    expect(openapi('--check')).toEqual({
      status: 1,
      said: expect.stringContaining('differs from the route table'),
    });
    openapi();
    expect(openapi('--check').status).toBe(0);
  });

  it('fails if a caller would break, before and after it is committed', () => {
    commit();
    breakInterface();
    openapi();
    const inTree = openapi('--check');
    git('commit', '--quiet', '--all', '--message', 'Break it');
    const committed = openapi('--check');
    expect([inTree.status, committed.status]).toEqual([1, 1]);
    expect(inTree.said).toContain('POST /v1/users: 201: answer.phone is gone');
    expect(committed.said).toContain('answer.phone is gone');
  });

  it('lets the same through under the next major version', () => {
    commit();
    breakInterface();
    edit('bin/openapi/document.ts', "INTERFACE_VERSION = '1.0.0'", "INTERFACE_VERSION = '2.0.0'");
    openapi();
    expect(openapi('--check')).toEqual({ status: 0, said: expect.stringContaining('the version says so') });
  });

  it('compares with nothing where there is no history, and says so', () => {
    expect(openapi('--check')).toEqual({ status: 0, said: expect.stringContaining('nothing to compare') });
  });

  it('fails on what the standard does not allow', () => {
    commit();
    edit('bin/openapi/document.ts', "in: 'header',", "in: 'head',");
    openapi();
    expect(openapi('--check')).toEqual({ status: 1, said: expect.stringContaining('swagger-parser') });
  });
});
