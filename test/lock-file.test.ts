import { readFileSync } from 'node:fs';

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
