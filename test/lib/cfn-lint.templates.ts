/** `npm run test:templates`: cfn-lint on the templates. Skipped by name where there is no Python. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findPython, makePythonEnvironment } from '#test/deploy/python.ts';
import { EVERY_OPTION, stageApp, stageConfig } from './synthesized.ts';

const PACKAGE = 'cfn-lint==1.58.0';

/** The rules that the templates do not follow, with the reason. */
const EXCEPTIONS = {
  W3005: 'CDK names a dependency on a role also where a reference implies it.',
  W6001:
    'The outputs of the API stack repeat what the admin CLI needs of the data stack, so that it reads one stack.',
};

/** The installation takes most of the time. */
const TIMEOUT_MS = 120_000;

const hasPython = await findPython().then(
  () => true,
  () => false,
);
const CONFIGS = {
  dev: stageConfig('dev'),
  'prod with every option': stageConfig('prod', { ...EVERY_OPTION, otpAccess: 'public' }),
};

/** A template with a property that does not exist. */
const WRONG = { Resources: { Topic: { Type: 'AWS::SNS::Topic', Properties: { Nme: 'x' } } } };

const suite = hasPython ? describe : describe.skip;

suite(hasPython ? 'cfn-lint' : 'cfn-lint (skipped: install Python)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'buyer-linking-cfn-lint-'));
  /** The folder of the templates of each config. */
  const directories = new Map<string, string>();
  /** What it finds, exceptions too: one line for each finding, which begins with the file. */
  let findings: readonly string[];

  const foundIn = (directory: string): readonly string[] =>
    findings.filter((line) => line.startsWith(join(directory, '/')));

  beforeAll(async () => {
    const program = join(await makePythonEnvironment(join(folder, 'python'), [PACKAGE]), 'cfn-lint');
    const templates = Object.entries(CONFIGS).flatMap(([name, config]) => {
      const { directory } = stageApp(config).app.synth();
      directories.set(name, directory);
      const files = readdirSync(directory).filter((file) => file.endsWith('.template.json'));
      expect(files).toHaveLength(2);
      return files.map((file) => join(directory, file));
    });
    const wrong = join(folder, 'wrong.template.json');
    writeFileSync(wrong, JSON.stringify(WRONG));
    const args = ['--format', 'parseable', '--regions', 'eu-central-1', '--ignore-checks', 'none'];
    const { stdout, stderr } = spawnSync(program, [...args, '--template', ...templates, wrong], {
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    findings = stdout.trim().split('\n');
  }, TIMEOUT_MS);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test.each(Object.keys(CONFIGS))(
    'finds nothing wrong in the templates of %s, apart from the named exceptions',
    (name) => {
      const isException = (line: string) =>
        Object.keys(EXCEPTIONS).some((rule) => line.includes(`:${rule}:`));
      expect(foundIn(directories.get(name) ?? '').filter((line) => !isException(line))).toEqual([]);
    },
  );

  test('finds each exception in the templates of dev, so that none is kept without need', () => {
    const found = foundIn(directories.get('dev') ?? '').join('\n');
    for (const rule of Object.keys(EXCEPTIONS)) expect(found).toContain(`:${rule}:`);
  });

  test('finds a property that does not exist', () => {
    expect(foundIn(folder)).toEqual([expect.stringContaining("'Nme' was unexpected")]);
  });

  test('finds nothing in any other file', () => {
    const known = [...directories.values(), folder].flatMap(foundIn);
    expect(findings.filter((line) => !known.includes(line))).toEqual([]);
  });
});
