/** The CDK app under the CDK CLI, and the npm scripts that run it for one stage. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import packageJson from '../../package.json' with { type: 'json' };
import { withThisNode } from '../deploy/command.ts';

const run = (...args: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    env: withThisNode() as NodeJS.ProcessEnv,
  });
  return { status, stdout, stderr };
};

const STAGE = 'bin/stage.ts';

/** The sentences about prod, each of which must be printed once. */
const UNSET = ['account', 'region', 'alarms', 'spend', 'budget'].map(
  (name) => `Set ${name} of prod in lib/stages.ts: `,
);

const stacksOf = (stage: string): string => `buyer-linking-${stage}-data\nbuyer-linking-${stage}-api\n`;

describe('the CDK app', () => {
  it('has no stacks if no stage is named', () => {
    const cdk = 'node_modules/aws-cdk/bin/cdk';
    const { status, stderr } = run(cdk, 'list', '--no-notices', '--output', 'cdk.out/list');
    expect(status).toBe(1);
    expect(stderr).toContain('The stages of lib/stages.ts are dev and prod: name one.\n');
  }, 120_000);
});

describe('npm run synth', () => {
  it('builds every stage, exits 0, and says once what prod must set', () => {
    const { status, stdout, stderr } = run(STAGE, 'synth', '--quiet', '--ignore-errors', '--no-notices');
    expect(status).toBe(0);
    for (const sentence of UNSET) expect(`${stdout}${stderr}`.split(sentence)).toHaveLength(2);
    for (const stage of ['dev', 'prod']) {
      expect(existsSync(`cdk.out/${stage}/buyer-linking-${stage}-api.template.json`)).toBe(true);
    }
  }, 300_000);
});

describe('bin/stage.ts', () => {
  it('passes the stage and --direct on to the CDK app, which has the stacks of that stage only, and all other arguments to the CDK CLI', () => {
    expect(run(STAGE, 'list', '--no-notices', '--stage=prod', '--direct')).toMatchObject({
      status: 0,
      stdout: stacksOf('prod'),
    });
    expect(run(STAGE, 'deploy', '--help')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('cdk deploy'),
    });
  }, 120_000);

  it.each([
    ['diff', '--strict'],
    ['deploy', '--all', '--strict'],
  ])(
    'does not %s prod while it must set something, with one sentence for each',
    (...command) => {
      const { status, stderr, stdout } = run(STAGE, ...command, '--stage', 'prod', '--no-notices');
      expect(status).toBe(1);
      for (const sentence of UNSET) expect(`${stdout}${stderr}`.split(sentence)).toHaveLength(2);
      expect(`${stdout}${stderr}`).not.toMatch(/acknowledge/i);
    },
    120_000,
  );

  it.each([
    ['deploy without a stage', ['deploy', '--all'], 'Name a stage: --stage dev or --stage prod.'],
    ['a stage without a name', ['deploy', '--all', '--stage'], 'Name a stage: --stage dev or --stage prod.'],
    [
      'an unknown stage',
      ['deploy', '--stage', 'prd'],
      '--stage dev or --stage prod: there is no stage "prd".',
    ],
    ['an inherited name', ['synth', '--stage=toString'], 'there is no stage "toString".'],
  ])('refuses %s in one sentence with exit code 2', (_, args, sentence) => {
    const { status, stdout, stderr } = run(STAGE, ...args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(sentence);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  it('is what the scripts of package.json run', () => {
    expect(packageJson.scripts).toMatchObject({
      bootstrap: 'node bin/stage.ts bootstrap',
      synth: 'node bin/stage.ts synth --quiet --ignore-errors',
      diff: 'node bin/stage.ts diff --strict',
      deploy: 'node bin/stage.ts deploy --all --strict',
    });
  });
});

describe('bin/app.ts', () => {
  it('prints a stage that does not exist without a stack trace and exits with 1', () => {
    const { status, stderr } = spawnSync(process.execPath, ['bin/app.ts'], {
      encoding: 'utf8',
      env: { ...process.env, CDK_CONTEXT_JSON: JSON.stringify({ stage: 'qa' }) },
    });
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: 'The stages of lib/stages.ts are dev and prod: there is no "qa".\n',
    });
  });
});
