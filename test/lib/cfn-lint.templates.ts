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
const folder = mkdtempSync(join(tmpdir(), 'buyer-linking-cfn-lint-'));
let program: string;

const suite = hasPython ? describe : describe.skip;

suite(hasPython ? 'cfn-lint' : 'cfn-lint (skipped: install Python)', () => {
  beforeAll(async () => {
    program = join(await makePythonEnvironment(folder, [PACKAGE]), 'cfn-lint');
  }, TIMEOUT_MS);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const lint = (templates: readonly string[], exceptions: readonly string[]) => {
    const args = ['--format', 'parseable', '--regions', 'eu-central-1', '--ignore-checks', ...exceptions];
    const { status, stdout, stderr } = spawnSync(program, [...args, '--template', ...templates], {
      encoding: 'utf8',
    });
    return { status, output: stdout + stderr };
  };

  const templatesOf = (config: Parameters<typeof stageApp>[0]): string[] => {
    const { directory } = stageApp(config).app.synth();
    return readdirSync(directory)
      .filter((file) => file.endsWith('.template.json'))
      .map((file) => join(directory, file));
  };

  test.each([
    ['dev', stageConfig('dev')],
    ['prod', stageConfig('prod')],
    ['prod with every option', stageConfig('prod', { ...EVERY_OPTION, otpAccess: 'public' })],
  ])(
    'finds nothing wrong in the templates of %s, apart from the named exceptions',
    (_, config) => {
      const templates = templatesOf(config);
      expect(templates).toHaveLength(2);
      expect(lint(templates, Object.keys(EXCEPTIONS))).toEqual({ status: 0, output: '' });
    },
    TIMEOUT_MS,
  );

  test(
    'finds each exception in the templates of prod, so that none is kept without need',
    () => {
      const { output } = lint(templatesOf(stageConfig('prod')), ['none']);
      for (const rule of Object.keys(EXCEPTIONS)) expect(output).toContain(rule);
    },
    TIMEOUT_MS,
  );

  test(
    'finds a property that does not exist',
    () => {
      const template = join(folder, 'wrong.template.json');
      writeFileSync(
        template,
        JSON.stringify({ Resources: { Topic: { Type: 'AWS::SNS::Topic', Properties: { Nme: 'x' } } } }),
      );
      const { status, output } = lint([template], Object.keys(EXCEPTIONS));
      expect(output).toContain("'Nme' was unexpected");
      expect(status).not.toBe(0);
    },
    TIMEOUT_MS,
  );
});
