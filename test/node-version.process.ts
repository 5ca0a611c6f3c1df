import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const read = (file: string): string => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');

const ROOT = fileURLToPath(new URL('../', import.meta.url));

/** A module that lets a process believe that its Node is 22.19.0. */
const PRETEND_NODE_22 = `data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'22.19.0'}})`;

const { devDependencies } = JSON.parse(read('package.json')) as {
  readonly devDependencies: { readonly node: string };
};

const run = (program: string, ...options: string[]) => {
  const args = ['--import', PRETEND_NODE_22, program, ...options];
  return spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });
};

describe('a Node that is too old', () => {
  test('is named with what to do about it by the check before npm start', () => {
    const { status, stderr } = run('bin/require-node.mjs');
    expect(status).toBe(1);
    expect(stderr).toMatch(/^Node 22\.19\.0 cannot run this\. `npm ci` installs Node 24/);
  });

  test('leaves the program buyer-linking to the Node that npm ci installed, with its output and exit code', () => {
    const { status, stdout } = run('bin/buyer-linking.mjs', '--help');
    expect([status, stdout]).toEqual([0, expect.stringContaining('Usage: buyer-linking')]);
    expect(run('bin/buyer-linking.mjs', 'nonsense').status).toBe(2);
  });
});

describe('the Node versions', () => {
  test('.nvmrc names the major version of the package `node`, which runs the scripts', () => {
    expect(read('.nvmrc').trim()).toBe(devDependencies.node.split('.')[0]);
    expect(process.versions.node).toBe(devDependencies.node);
  });

  test('the scripts ask for the major version of the package `node`', () => {
    const major = devDependencies.node.split('.')[0];
    expect(read('bin/node-version.mjs')).toContain(`const REQUIRED_MAJOR = ${major};`);
  });
});
