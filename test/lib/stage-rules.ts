/** The rules of cdk-nag, of CloudFormation and of cfn-lint, for the templates of stages. cfn-lint is skipped by name where there is no Python. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import type { Config } from '#lib/config.ts';
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

/** The settings of prod with which its templates have the most. */
export const PROD_WITH_EVERY_OPTION = { ...EVERY_OPTION, otpAccess: 'public' } as const;

/** A template with a property that does not exist. */
const WRONG = { Resources: { Topic: { Type: 'AWS::SNS::Topic', Properties: { Nme: 'x' } } } };

/** Returns a function that synthesizes a config with all rules, once. It returns the folder of the templates, and throws if a rule fails. */
const synthesizer = () => {
  const directories = new Map<Config, string>();
  return (config: Config): string => {
    const directory =
      directories.get(config) ?? stageApp(config, { hasValidation: true }).app.synth().directory;
    directories.set(config, directory);
    return directory;
  };
};

const templatesIn = (directory: string): readonly string[] => {
  const files = readdirSync(directory).filter((file) => file.endsWith('.template.json'));
  expect(files).toHaveLength(2);
  return files.map((file) => join(directory, file));
};

const describeLint = (name: string, directoryOf: () => string): void => {
  const suite = hasPython ? describe : describe.skip;
  suite(hasPython ? 'cfn-lint' : 'cfn-lint (skipped: install Python)', () => {
    const folder = mkdtempSync(join(tmpdir(), 'buyer-linking-cfn-lint-'));
    /** What it finds, exceptions too: one line for each finding, which begins with the file. */
    let findings: readonly string[];

    const foundIn = (directory: string): readonly string[] =>
      findings.filter((line) => line.startsWith(join(directory, '/')));

    beforeAll(async () => {
      const program = join(await makePythonEnvironment(join(folder, 'python'), [PACKAGE]), 'cfn-lint');
      const wrong = join(folder, 'wrong.template.json');
      writeFileSync(wrong, JSON.stringify(WRONG));
      const args = ['--format', 'parseable', '--regions', 'eu-central-1', '--ignore-checks', 'none'];
      const templates = [...templatesIn(directoryOf()), wrong];
      const { stdout, stderr } = spawnSync(program, [...args, '--template', ...templates], {
        encoding: 'utf8',
      });
      expect(stderr).toBe('');
      findings = stdout.trim().split('\n');
    }, TIMEOUT_MS);
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    test(`finds nothing wrong in the templates of ${name}, apart from the named exceptions`, () => {
      const isException = (line: string) =>
        Object.keys(EXCEPTIONS).some((rule) => line.includes(`:${rule}:`));
      expect(foundIn(directoryOf()).filter((line) => !isException(line))).toEqual([]);
    });

    test(`finds each exception in the templates of ${name}, so that none is kept without need`, () => {
      const found = foundIn(directoryOf()).join('\n');
      for (const rule of Object.keys(EXCEPTIONS)) expect(found).toContain(`:${rule}:`);
    });

    test('finds a property that does not exist', () => {
      expect(foundIn(folder)).toEqual([expect.stringContaining("'Nme' was unexpected")]);
    });

    test('finds nothing in any other file', () => {
      const known = [directoryOf(), folder].flatMap(foundIn);
      expect(findings.filter((line) => !known.includes(line))).toEqual([]);
    });
  });
};

/** Describes that cdk-nag and CloudFormation accept these stages, and that cfn-lint accepts the one that is named. */
export const describeStageRules = (configs: Readonly<Record<string, Config>>, linted: string): void => {
  const directoryOf = synthesizer();

  describe('the rules of cdk-nag and of CloudFormation', () => {
    test.each(Object.entries(configs))('accept the stacks of %s', (_, config) => {
      expect(() => directoryOf(config)).not.toThrow();
    });

    test('fail the synth of a stack with a bucket that violates them', () => {
      const { app, api } = stageApp(stageConfig('dev'));
      new Bucket(api, 'Careless');
      expect(() => app.synth()).toThrow(/AwsSolutions-S1|[Vv]alidation/);
    });
  });

  describeLint(linted, () => directoryOf(configs[linted] as Config));
};
