/** `npm version` with the hooks of package.json, in a temporary repository that has its own `npm run check`. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import packageJson from '../../package.json' with { type: 'json' };

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CHANGELOG = `# Changelog

## [Unreleased]

### Added
- A new operation.

## [1.4.2] - 2026-01-31

### Fixed
- An old defect.
`;

/** Where git does not look. */
const GO = '.git/programs/go';

let folder: string;

/** Runs a program with the Node of this test first in PATH, as npm does for the scripts of the project, and with the double of Go. */
const run = (program: string, ...args: string[]) => {
  const PATH = [dirname(process.execPath), join(folder, GO, '..'), process.env.PATH].join(delimiter);
  const env = { ...process.env, PATH };
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: folder, encoding: 'utf8', env });
  return { status, stdout, stderr };
};
const git = (...args: string[]): string => run('git', ...args).stdout.trim();
const write = (file: string, text: string): void => writeFileSync(join(folder, file), text);
/** The machine of this test may have no Go. */
const writeGo = (script: string): void =>
  writeFileSync(join(folder, GO), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
const read = (file: string): string => readFileSync(join(folder, file), 'utf8');

const commitWith = (check: string, changelog: string): void => {
  const { imports } = packageJson;
  const { preversion, version, postversion } = packageJson.scripts;
  const scripts = { check, preversion, version, postversion };
  write(
    'package.json',
    JSON.stringify({ name: 'sample', version: '1.4.2', type: 'module', imports, scripts }),
  );
  write('CHANGELOG.md', changelog);
  git('add', '.');
  git('commit', '--quiet', '--message', 'First');
};

const expectNoRelease = (): void => {
  expect(git('log', '--format=%s')).toBe('First');
  expect(git('tag', '--list')).toBe('');
  expect(git('status', '--porcelain')).toBe('');
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'buyer-linking-release-'));
  for (const file of [
    '.npmrc',
    'admin/cli/escaped.ts',
    'bin/changelog.ts',
    'bin/command-line.ts',
    'shared',
  ]) {
    cpSync(join(ROOT, file), join(folder, file), { recursive: true });
  }
  git('init', '--quiet', '--initial-branch', 'main');
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  write('.git/info/exclude', 'node_modules\n');
  git('config', 'user.name', 'Test');
  git('config', 'user.email', 'test@example.com');
  git('config', 'core.hooksPath', '.git/hooks');
  mkdirSync(join(folder, GO, '..'));
  writeGo('exit 0');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('npm version', () => {
  it('moves the unreleased entries to the new version, commits and tags it, and names the next step', () => {
    commitWith('node -p 1', CHANGELOG);
    const { status, stdout } = run('npm', 'version', 'minor');
    expect(status).toBe(0);
    expect(stdout).toContain('git push --follow-tags');
    expect(read('CHANGELOG.md').replace(/20\d\d-\d\d-\d\d/, '(today)')).toBe(
      CHANGELOG.replace('## [Unreleased]\n', '## [Unreleased]\n\n## [1.5.0] - (today)\n'),
    );
    expect(git('log', '-1', '--format=%s')).toBe('Release 1.5.0');
    expect(git('show', '--name-only', '--format=').split('\n')).toEqual(['CHANGELOG.md', 'package.json']);
    expect(git('rev-parse', 'v1.5.0^{commit}')).toBe(git('rev-parse', 'HEAD'));
    expect(git('status', '--porcelain')).toBe('');
  });

  it('changes nothing without an unreleased entry', () => {
    commitWith('node -p 1', CHANGELOG.replace('- A new operation.\n', ''));
    const { status, stderr } = run('npm', 'version', 'patch');
    expect(status).toBe(1);
    expect(stderr).toContain('CHANGELOG.md has no entry under "Unreleased".');
    expectNoRelease();
  });

  it('changes nothing without Go, which compares the document with that of the last release', () => {
    commitWith('node -p 1', CHANGELOG);
    writeGo('exit 127');
    expect(run('npm', 'version', 'patch').status).toBe(127);
    expectNoRelease();
  });

  it('changes nothing if npm run check fails', () => {
    commitWith('exit 1', CHANGELOG);
    expect(run('npm', 'version', 'patch').status).toBe(1);
    expectNoRelease();
  });
});
