/** The CDK app under the CDK CLI, and the npm scripts that run it for one stage. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { withThisNode } from '../deploy/command.ts';

const folder = mkdtempSync(join(tmpdir(), 'buyer-linking-stage-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (...args: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    env: withThisNode() as NodeJS.ProcessEnv,
  });
  return { status, stdout, stderr };
};

const CDK = 'node_modules/aws-cdk/bin/cdk';
const STAGE = 'bin/stage.ts';
/** Lists the stacks without a call to AWS, and without writing to cdk.out. */
const LIST = ['list', '--no-notices', '--output', folder];

const UNSET =
  'Stage prod is not deployed while account, region, alarms, spend, and budget are unset in lib/stages.ts.';

const stacksOf = (...stages: readonly string[]): string =>
  stages.map((stage) => `buyer-linking-${stage}-data\nbuyer-linking-${stage}-api\n`).join('');

describe('cdk list', () => {
  it('shows the stacks of every stage', () => {
    expect(run(CDK, ...LIST)).toMatchObject({ status: 0, stdout: stacksOf('dev', 'prod') });
  }, 120_000);

  it('names the stages for an unknown one, and exits 1', () => {
    const { status, stderr } = run(CDK, ...LIST, '-c', 'stage=qa');
    expect(status).toBe(1);
    expect(stderr).toContain('There is no stage "qa". The stages of lib/stages.ts are dev and prod.\n');
  }, 120_000);
});

describe('cdk synth', () => {
  it('builds every stage, exits 0 and warns in one sentence that prod is not deployed while options are unset', () => {
    const { status, stdout, stderr } = run(CDK, 'synth', '--quiet', '--no-notices', '--output', folder);
    expect(status).toBe(0);
    expect(`${stdout}${stderr}`).toContain(`WARNING ${UNSET}`);
    expect(readdirSync(folder)).toEqual(
      expect.arrayContaining(['buyer-linking-dev-api.template.json', 'buyer-linking-prod-api.template.json']),
    );
  }, 300_000);
});

describe('bin/stage.ts', () => {
  it('passes the stage on to the CDK app', () => {
    expect(run(STAGE, ...LIST, '--stage', 'prod')).toMatchObject({ status: 0, stdout: stacksOf('prod') });
  }, 120_000);

  it('passes --direct on, also beside a stage without a gradual rollout', () => {
    expect(run(STAGE, ...LIST, '--direct', '--stage', 'dev')).toMatchObject({
      status: 0,
      stdout: stacksOf('dev'),
    });
  }, 120_000);

  it('passes all other arguments on, and exits as the CDK CLI does', () => {
    const { status, stderr } = run(STAGE, ...LIST, '--stage=prod', '-c', 'canarry=true');
    expect(status).toBe(1);
    expect(stderr).toContain(
      'The config of stage "prod" cannot be deployed: option "canarry" is not an option.',
    );
    expect(run(STAGE, 'deploy', '--help')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('cdk deploy'),
    });
  }, 120_000);

  it.each([
    ['diff', '--strict'],
    ['deploy', '--all', '--strict'],
  ])(
    'does not %s prod while its required options are unset, in one sentence',
    (...command) => {
      const { status, stderr, stdout } = run(
        STAGE,
        ...command,
        '--stage',
        'prod',
        '--no-notices',
        '--output',
        folder,
      );
      expect(status).toBe(1);
      expect(`${stdout}${stderr}`).toContain(UNSET);
    },
    120_000,
  );

  it.each([
    ['deploy without a stage', ['deploy', '--all'], 'Name a stage: --stage dev or --stage prod.'],
    ['diff without a stage', ['diff', '-c', 'stage=dev'], 'Name a stage: --stage dev or --stage prod.'],
    ['a stage without a name', ['deploy', '--all', '--stage'], 'Name a stage: --stage dev or --stage prod.'],
    ['an unknown stage', ['deploy', '--stage', 'qa'], 'There is no stage "qa": --stage dev or --stage prod.'],
    ['an inherited name', ['synth', '--stage=toString'], 'There is no stage "toString": --stage dev'],
  ])('refuses %s in one sentence with exit code 2', (_, args, sentence) => {
    const { status, stdout, stderr } = run(STAGE, ...args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(sentence);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  it('is what the scripts of package.json run', () => {
    expect(packageJson.scripts).toMatchObject({
      synth: 'node bin/stage.ts synth --quiet',
      diff: 'node bin/stage.ts diff --strict',
      deploy: 'node bin/stage.ts deploy --all --strict',
    });
  });
});

describe('bin/app.ts', () => {
  it('prints the faults of a wrong config without a stack trace and exits with 1', () => {
    const context = { stage: 'prod', otpAccess: 'sometimes', canarry: true };
    const { status, stderr } = spawnSync(process.execPath, ['bin/app.ts'], {
      encoding: 'utf8',
      env: { ...process.env, CDK_CONTEXT_JSON: JSON.stringify(context) },
    });
    expect(status).toBe(1);
    expect(stderr.split('\n')).toEqual([
      'The config of stage "prod" cannot be deployed:',
      '  - option "otpAccess" must be "api-key" or "public".',
      '  - option "canarry" is not an option.',
      '',
    ]);
  }, 120_000);
});
