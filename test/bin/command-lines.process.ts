/** Every program of bin/ answers --help and a wrong option in the same way. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** What is in bin/ besides programs, what the CDK CLI and the linter run, and stage.ts, which passes its options on to the CDK CLI. */
const OTHERS = [
  'app.ts',
  'command-line.ts',
  'credentials.ts',
  'deployments.ts',
  'import-report.mjs',
  'node-version.mjs',
  'require-node.mjs',
  'stage.ts',
];

const programs = [
  ...readdirSync(`${ROOT}bin`)
    .filter((file) => /\.m?[jt]s$/.test(file) && !OTHERS.includes(file))
    .map((file) => `bin/${file}`),
  'test/hardening/run.ts',
];

const run = (program: string, option: string, env: NodeJS.ProcessEnv = process.env) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, option], {
    cwd: ROOT,
    encoding: 'utf8',
    env,
  });
  return { status, stdout, stderr };
};

describe.each(programs)('%s', (program) => {
  test('prints its usage in 80 columns with --help, without an error', () => {
    const { status, stdout, stderr } = run(program, '--help');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^Usage: /);
    expect(stdout.split('\n').filter(({ length }) => length > 80)).toEqual([]);
  });

  test('names a wrong option, without a phone, a control character and a stack trace, and exits 2', () => {
    const { status, stdout, stderr } = run(program, '--nope\u009b31m-0912-345-6789');
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(/^[^\n]*unknown option '--nope\\u009b31m-\[redacted\]'/i);
    expect(stderr).not.toMatch(/^\s+at /m);
  });
});

test('bin/smoke.ts shows no control character of the stage that was named', () => {
  const { status, stderr } = run('bin/smoke.ts', '--stage=x\u001b[31m');
  expect([status, stderr]).toEqual([1, expect.stringMatching(/^error: .* there is no "x\\u001b\[31m"\.\n$/)]);
});

describe('compiled code', () => {
  const { NODE_COMPILE_CACHE, ...env } = process.env;

  test('of the admin CLI is not kept in the temporary folder, where another user of the machine could plant some', () => {
    const TMPDIR = mkdtempSync(join(tmpdir(), 'buyer-linking-'));
    expect(run('bin/buyer-linking.mjs', '--help', { ...env, TMPDIR }).status).toBe(0);
    const kept = readdirSync(TMPDIR);
    rmSync(TMPDIR, { recursive: true });
    expect(kept).toEqual([]);
  });

  test('of the test runner is kept within the checkout, and so are its own files', () => {
    const { jest } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));
    expect(NODE_COMPILE_CACHE).toBe(`${ROOT}node_modules/.cache/node-compile-cache`);
    expect(jest.cacheDirectory).toBe('<rootDir>/node_modules/.cache/jest');
  });
});

test('each program of package.json is covered', () => {
  const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as {
    scripts: Record<string, string>;
  };
  const inBin = Object.values(scripts).flatMap(
    (script) => /^node (bin\/[\w-]+\.m?[jt]s)/.exec(script)?.[1] ?? [],
  );
  expect([...programs, ...OTHERS.map((file) => `bin/${file}`)]).toEqual(expect.arrayContaining(inBin));
});
