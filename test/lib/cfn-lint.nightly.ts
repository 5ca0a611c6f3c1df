/**
 * cfn-lint, for the stage with the least in its templates and the one with the most. It takes twice the CPU seconds of all other rules, and
 * the rules of CloudFormation in stages.templates.ts find a property that does not exist too, so it runs at night. It is skipped by name
 * where there is no Python.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findPython, makePythonEnvironment } from '#test/deploy/python.ts';
import { LEAST_AND_MOST } from './stage-rules.ts';
import { stageApp } from './synthesized.ts';

const PACKAGE = 'cfn-lint==1.58.0';

/** The rules that the templates do not follow, with the reason. */
const EXCEPTIONS = {
  W3005: 'CDK names a dependency on a role also where a reference implies it.',
  W6001:
    'The outputs of the API stack repeat what the admin CLI needs of the data stack, so that it reads one stack.',
};

/** The installation takes most of the time. */
const TIMEOUT_MS = 120_000;

/** A template with a property that does not exist. */
const WRONG = { Resources: { Topic: { Type: 'AWS::SNS::Topic', Properties: { Nme: 'x' } } } };

const hasPython = await findPython().then(
  () => true,
  () => false,
);
const suite = hasPython ? describe : describe.skip;

suite(hasPython ? 'cfn-lint' : 'cfn-lint (skipped: install Python)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'buyer-linking-cfn-lint-'));
  const directories = Object.fromEntries(
    Object.entries(LEAST_AND_MOST).map(([name, config]) => [name, stageApp(config).app.synth().directory]),
  );
  /** What it finds, exceptions too: one line for each finding, which begins with the file. */
  let findings: readonly string[];

  const foundIn = (directory: string): readonly string[] =>
    findings.filter((line) => line.startsWith(join(directory, '/')));

  beforeAll(async () => {
    const program = join(await makePythonEnvironment(join(folder, 'python'), [PACKAGE]), 'cfn-lint');
    const wrong = join(folder, 'wrong.template.json');
    writeFileSync(wrong, JSON.stringify(WRONG));
    const templates = Object.values(directories).flatMap((directory) =>
      readdirSync(directory)
        .filter((file) => file.endsWith('.template.json'))
        .map((file) => join(directory, file)),
    );
    expect(templates).toHaveLength(4);
    const args = ['--format', 'parseable', '--regions', 'eu-central-1', '--ignore-checks', 'none'];
    const { stdout, stderr } = spawnSync(program, [...args, '--template', ...templates, wrong], {
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    findings = stdout.trim().split('\n');
  }, TIMEOUT_MS);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test.each(Object.entries(directories))(
    'finds nothing wrong in the templates of %s, apart from the named exceptions',
    (_, directory) => {
      const isException = (line: string) =>
        Object.keys(EXCEPTIONS).some((rule) => line.includes(`:${rule}:`));
      expect(foundIn(directory).filter((line) => !isException(line))).toEqual([]);
    },
  );

  test.each(Object.entries(directories))(
    'finds each exception in the templates of %s, so that none is kept without need',
    (_, directory) => {
      const found = foundIn(directory).join('\n');
      for (const rule of Object.keys(EXCEPTIONS)) expect(found).toContain(`:${rule}:`);
    },
  );

  test('finds a property that does not exist', () => {
    expect(foundIn(folder)).toEqual([expect.stringContaining("'Nme' was unexpected")]);
  });

  test('finds nothing in any other file', () => {
    const known = [...Object.values(directories), folder].flatMap(foundIn);
    expect(findings.filter((line) => !known.includes(line))).toEqual([]);
  });
});
