import { readFileSync } from 'node:fs';
import packageJson from '../package.json' with { type: 'json' };

interface LockedPackage {
  readonly version: string;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly resolved?: string;
}

const { packages } = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')) as {
  packages: Record<string, LockedPackage>;
};

const lockedNames = new Set(Object.keys(packages).map((path) => path.split('node_modules/').at(-1)));

describe('package-lock.json', () => {
  it.each([
    ['linux', 'x64'],
    ['linux', 'arm64'],
    ['darwin', 'x64'],
    ['darwin', 'arm64'],
    ['win32', 'x64'],
  ])('has the embedded database of %s on %s, as an option', (os, cpu) => {
    expect(packages[`node_modules/@dynoxide/${os}-${cpu}`]).toMatchObject({
      version: packages['node_modules/@dynoxide/linux-x64']?.version,
      optional: true,
      os: [os],
      cpu: [cpu],
    });
  });

  it('lists every optional dependency of every package, so that npm ci accepts it on any platform', () => {
    const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies)
        .filter((name) => !lockedNames.has(name))
        .map((name) => `${path} wants ${name}`),
    );
    expect(missing).toEqual([]);
  });

  it('names no registry host', () => {
    expect(Object.values(packages).filter(({ resolved }) => resolved !== undefined)).toEqual([]);
  });
});

const changelog = readFileSync(new URL('../CHANGELOG.md', import.meta.url), 'utf8');

const headings = [...changelog.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
const kinds = [...changelog.matchAll(/^### (.+)$/gm)].map(([, kind]) => kind);

describe('CHANGELOG.md', () => {
  test('begins with the unreleased entries and has the version of package.json next', () => {
    expect(headings[0]).toBe('[Unreleased]');
    expect(headings[1]).toContain(`[${packageJson.version}] - `);
  });

  test('has a version and a day for each release, and only the headings of Keep a Changelog', () => {
    for (const heading of headings.slice(1))
      expect(heading).toMatch(/^\[\d+\.\d+\.\d+\] - 20\d\d-\d\d-\d\d$/);
    const known = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'];
    expect(known).toEqual(expect.arrayContaining(kinds));
  });
});
