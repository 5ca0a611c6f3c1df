import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';

const read = (file: string): string => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');

const { engines, devDependencies } = JSON.parse(read('package.json')) as {
  readonly engines: { readonly node: string };
  readonly devDependencies: { readonly node: string };
};
const lowest = engines.node.replace('>=', '');

describe('the Node versions', () => {
  test.each(['README.md', 'CONTRIBUTING.md', 'docs/deploy.md', '.ci/run'])(
    'in %s are those of package.json',
    (file) => {
      expect(read(file)).toContain(`Node ${lowest} or newer`);
    },
  );

  test('.nvmrc names the major version of the package `node`, which runs the scripts', () => {
    expect(read('.nvmrc').trim()).toBe(devDependencies.node.split('.')[0]);
    expect(process.versions.node).toBe(devDependencies.node);
  });
});
