/** `npm run release` in a temporary repository that has its own `npm run check`. */
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const REPOSITORY = fileURLToPath(new URL('../../../', import.meta.url));

const CHANGELOG = `# Changelog

## [Unreleased]

### Added
- A new operation.

## [1.4.2] - 2026-01-31

### Fixed
- An old defect.
`;

let folder: string;

const run = (program: string, ...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: folder, encoding: 'utf8' });
  return { status, stdout, stderr };
};

const git = (...args: string[]): string => {
  const { status, stdout, stderr } = run('git', ...args);
  expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' });
  return stdout.trim();
};

const write = (file: string, text: string): void => writeFileSync(join(folder, file), text);
const read = (file: string): string => readFileSync(join(folder, file), 'utf8');

const commit = (message: string): void => {
  git('add', '.');
  git('commit', '--quiet', '--message', message);
};

const manifest = (check: string): string =>
  JSON.stringify({ name: 'sample', version: '1.4.2', type: 'module', scripts: { check } });

const release = (...args: string[]) => run(process.execPath, 'bin/release.ts', ...args);

/** What a refused release must leave as it was. */
const state = () => ({
  head: git('rev-parse', 'HEAD'),
  tags: git('tag', '--list'),
  changes: git('status', '--porcelain'),
});

const expectRefusal = (sentence: string, ...args: string[]): void => {
  const before = state();
  const { status, stderr } = release(...args);
  expect(stderr).toContain(`No release was cut. ${sentence}`);
  expect(stderr).not.toMatch(/^\s+at /m);
  expect(status).toBe(1);
  expect(state()).toEqual(before);
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'buyer-linking-release-'));
  cpSync(join(REPOSITORY, 'bin'), join(folder, 'bin'), { recursive: true });
  write('package.json', manifest('node -p 1'));
  write('package-lock.json', JSON.stringify({ version: '1.4.2', packages: { '': { version: '1.4.2' } } }));
  write('CHANGELOG.md', CHANGELOG);
  git('init', '--quiet', '--initial-branch', 'main');
  git('config', 'user.name', 'Test');
  git('config', 'user.email', 'test@example.com');
  git('config', 'core.hooksPath', '.git/hooks');
  commit('First');
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('a release', () => {
  it.each([
    ['patch', '1.4.3'],
    ['minor', '1.5.0'],
    ['major', '2.0.0'],
  ])('of the %s number commits and tags the new version with its notes', (part, version) => {
    const { status, stdout } = release(part);
    expect(stdout).toContain(`Tagged v${version}. To publish it: git push --follow-tags`);
    expect(status).toBe(0);

    const tagged = git('for-each-ref', '--format=%(subject)%0a%(body)', `refs/tags/v${version}`);
    expect(tagged).toBe(`Release ${version}\n### Added\n- A new operation.`);
    expect(git('rev-parse', `v${version}^{commit}`)).toBe(git('rev-parse', 'HEAD'));
    expect(git('show', '--name-only', '--format=%s').split('\n')).toEqual([
      `Release ${version}`,
      '',
      'CHANGELOG.md',
      'package-lock.json',
      'package.json',
    ]);
    expect(JSON.parse(read('package.json')).version).toBe(version);
    expect(JSON.parse(read('package-lock.json'))).toEqual({ version, packages: { '': { version } } });
    expect(read('CHANGELOG.md').replace(/20\d\d-\d\d-\d\d/, '(today)')).toBe(
      CHANGELOG.replace('## [Unreleased]\n', `## [Unreleased]\n\n## [${version}] - (today)\n`),
    );
  });

  it('is refused off main', () => {
    git('switch', '--quiet', '--create', 'feature');
    expectRefusal('A release is cut on main; this is "feature".', 'patch');
  });

  it('is refused while a file is not committed', () => {
    write('new-file.ts', '');
    expectRefusal('There are changes that are not committed.', 'patch');
  });

  it('is refused without an entry in CHANGELOG.md', () => {
    write('CHANGELOG.md', CHANGELOG.replace('- A new operation.\n', ''));
    commit('Remove the entry');
    expectRefusal('CHANGELOG.md has no entry under "Unreleased".', 'patch');
  });

  it('is refused if its tag exists', () => {
    git('tag', 'v1.4.3');
    expectRefusal('The tag v1.4.3 exists already.', 'patch');
  });

  it('is refused if npm run check fails', () => {
    write('package.json', manifest('exit 1'));
    commit('Break the check');
    expectRefusal('`npm run check` fails.', 'patch');
  });

  it('leaves nothing behind if a hook of git refuses the commit', () => {
    write('.git/hooks/pre-commit', '#!/bin/sh\necho "not today" >&2\nexit 1\n');
    chmodSync(join(folder, '.git/hooks/pre-commit'), 0o755);
    expectRefusal('git commit failed: not today', 'patch');
  });

  it.each([[[]], [['huge']], [['patch', 'minor']], [['--push']]])(
    'prints one sentence and exits 2 for the arguments %j',
    (args) => {
      const { status, stderr } = release(...args);
      expect(stderr).toMatch(/^[^\n]+\. Try --help\.\n$/);
      expect(status).toBe(2);
    },
  );

  it('prints its usage with --help', () => {
    const { status, stdout } = release('--help');
    expect(stdout).toContain('Usage: npm run release -- <patch|minor|major>');
    expect(status).toBe(0);
  });
});
