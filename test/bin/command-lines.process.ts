/** Every program of bin/ answers --help and a wrong option in the same way. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
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

const run = (program: string, option: string) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, option], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
};

describe.each(programs)('%s', (program) => {
  test('prints its usage with --help, without an error', () => {
    const { status, stdout, stderr } = run(program, '--help');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^Usage: /);
  });

  test('names a wrong option, without a phone in it and a stack trace, and exits 2', () => {
    const { status, stdout, stderr } = run(program, '--nope-0912-345-6789');
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(/^[^\n]*unknown option '--nope-\[redacted\]'/i);
    expect(stderr).not.toMatch(/^\s+at /m);
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
