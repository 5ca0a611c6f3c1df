import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { releaseOf } from '#lib/release.ts';
import { RELEASE, resourcesOf, stageApp, stageConfig, synthesize, templatesOf } from './synthesized.ts';

const folder = mkdtempSync(join(tmpdir(), 'buyer-linking-release-'));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', ...args], {
    cwd,
    encoding: 'utf8',
  });

/** Makes a folder with a package.json, in `parent`. */
const checkout = (name: string, parent = folder): string => {
  const path = join(parent, name);
  mkdirSync(path);
  writeFileSync(join(path, 'package.json'), '{ "version": "4.5.6" }');
  return path;
};

const repository = (name: string): string => {
  const path = checkout(name);
  git(path, 'init', '--quiet');
  git(path, 'add', '.');
  git(path, 'commit', '--quiet', '--no-verify', '--message', 'First');
  return path;
};

describe('the release of a checkout', () => {
  test('has the version of package.json and the first digits of the commit, also when a tag names the commit', () => {
    const path = repository('clean');
    git(path, 'tag', 'v4.5.6');
    const commit = git(path, 'rev-parse', 'HEAD').slice(0, 12);
    expect(releaseOf(path)).toEqual({ version: '4.5.6', commit });
  });

  test('marks a commit from which files differ', () => {
    const path = repository('changed');
    writeFileSync(join(path, 'package.json'), '{ "version": "4.5.7" }');
    expect(releaseOf(path)).toEqual({
      version: '4.5.7',
      commit: expect.stringMatching(/^[0-9a-f]{12}-dirty$/),
    });
  });

  test('has an unknown commit outside a git repository, also in a folder of another repository', () => {
    expect(releaseOf(checkout('archive')).commit).toBe('unknown');
    expect(releaseOf(checkout('archive', repository('other'))).commit).toBe('unknown');
  });
});

describe('the stacks', () => {
  const { api, data } = stageApp(stageConfig('dev'));
  const { api: template } = templatesOf('dev');

  test('have the version and the commit as outputs of the API stack', () => {
    template.hasOutput('Version', { Value: RELEASE.version });
    template.hasOutput('Commit', { Value: RELEASE.commit });
  });

  test('do not change with a release, except for the function of the OpenAPI document: no stack has a tag of it, which AWS copies to each resource', () => {
    const tags = [api, data].flatMap((stack) => Object.keys(stack.tags.tagValues()));
    expect(tags.filter((tag) => tag in RELEASE)).toEqual([]);
    const named = Object.entries(resourcesOf(template, 'AWS::Lambda::Function')).filter(([, lambda]) =>
      JSON.stringify(lambda).includes(RELEASE.commit),
    );
    expect(JSON.stringify(template.toJSON().Resources).split(RELEASE.commit)).toHaveLength(2);
    expect(
      named.map(([logicalId, { Properties }]) => [
        logicalId,
        Properties.Environment.Variables.RELEASE_VERSION,
      ]),
    ).toEqual([[expect.stringMatching(/^getopenapiFunction/), RELEASE.version]]);
  });

  test('change with a commit by the nine entries that docs/operators/operations.md names, and by no other', () => {
    const deployed = templatesOf('dev');
    const next = synthesize(stageConfig('dev'), { ...RELEASE, commit: 'ba9876543210' });
    const [before, after] = [
      [deployed.api.toJSON(), deployed.data.toJSON()],
      [next.api, next.data],
    ].map((templates) =>
      Object.assign({}, ...templates.flatMap(({ Resources, Outputs }) => [Resources, Outputs])),
    );
    const changed = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
      (id) => JSON.stringify(before[id]) !== JSON.stringify(after[id]),
    );
    // The end of each is a hash.
    expect(changed.map((id) => id.replace(/[\dA-F]{8}(?:[\da-f]{32})?$/, '')).sort()).toEqual(
      [
        ['Commit', 'CheckBeforeTraffic'],
        ['getopenapiFunction', 'getopenapiFunctionCurrentVersion', 'getopenapiFunctionCurrentVersion'],
        ['getopenapiLive'],
        ['deploycheckFunction', 'deploycheckFunctionCurrentVersion', 'deploycheckFunctionCurrentVersion'],
      ]
        .flat()
        .sort(),
    );
    const page = readFileSync(new URL('../../docs/operators/operations.md', import.meta.url), 'utf8');
    expect(page).toContain('shows that setting, and the nine entries of the commit');
  });
});
