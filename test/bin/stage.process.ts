/** The CDK app under the CDK CLI, and the npm scripts that run it for one stage. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
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
const UNSET = ['account', 'region', 'alarms', 'spend', 'budget', 'backupCopy'].map(
  (name) => `Set ${name} of prod in lib/stages.ts: `,
);

const expectUnset = ({ stdout, stderr }: ReturnType<typeof run>): void => {
  for (const sentence of UNSET) expect(`${stdout}${stderr}`.split(sentence)).toHaveLength(2);
};

const PROD = 'cdk.out/prod';

/** Returns the aliases whose new versions get the traffic by and by. */
const gradualAliases = (): readonly unknown[] => {
  const template = JSON.parse(readFileSync(`${PROD}/buyer-linking-prod-api.template.json`, 'utf8'));
  return Object.values<{ Type: string; UpdatePolicy?: object }>(template.Resources).filter(
    ({ Type, UpdatePolicy }) => Type === 'AWS::Lambda::Alias' && UpdatePolicy !== undefined,
  );
};

describe('bin/stage.ts', () => {
  // An app of its own: a synthesis of the service takes ten seconds.
  const APP = ['--no-notices', '--app', 'node test/bin/context-app.ts'];

  it('synthesizes every stage if none is named', () => {
    const { status, stderr } = run(STAGE, 'synth', '--quiet', ...APP);
    expect(status).toBe(0);
    expect(stderr.match(/^stage .*/gm)).toEqual([
      'stage dev, direct undefined',
      'stage prod, direct undefined',
    ]);
    for (const stage of ['dev', 'prod'])
      expect(existsSync(`cdk.out/${stage}/stack-of-${stage}.template.json`)).toBe(true);
  });

  it('passes the stage and --direct on to the CDK app, and all other arguments to the CDK CLI', () => {
    expect(run(STAGE, 'list', '--stage=prod', '--direct', ...APP)).toMatchObject({
      status: 0,
      stdout: 'stack-of-prod\n',
      stderr: expect.stringContaining('stage prod, direct true\n'),
    });
    expect(run(STAGE, 'deploy', '--help')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('cdk deploy'),
    });
  });

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

describe('the scripts for prod, while it must set something', () => {
  let synth: ReturnType<typeof run>;
  beforeAll(() => {
    synth = run(STAGE, 'synth', '--quiet', '--ignore-errors', '--no-notices', '--stage', 'prod');
  });

  it('npm run synth builds the stacks of prod only, exits 0, and says once what it must set', () => {
    expect(synth.status).toBe(0);
    expectUnset(synth);
    const { artifacts } = JSON.parse(readFileSync(`${PROD}/manifest.json`, 'utf8'));
    const stacks = Object.keys(artifacts).filter((id) => artifacts[id].type === 'aws:cloudformation:stack');
    expect(stacks.sort()).toEqual(['buyer-linking-prod-api', 'buyer-linking-prod-data']);
    expect(gradualAliases()).not.toEqual([]);
  });

  it('npm run deploy deploys nothing, with one sentence for each', () => {
    const options = ['--all', '--strict', '--stage', 'prod', '--no-notices'];
    // What synth wrote, in place of the app.
    const deploy = run(STAGE, 'deploy', ...options, '--app', PROD);
    expect(deploy.status).toBe(1);
    expectUnset(deploy);
    expect(`${deploy.stdout}${deploy.stderr}`).not.toMatch(/acknowledge/i);
  });

  it('npm run deploy deploys the API stack alone neither', () => {
    const options = ['--exclusively', 'buyer-linking-prod-api', '--stage', 'prod', '--no-notices'];
    const deploy = run(STAGE, 'deploy', ...options, '--app', PROD);
    expect(deploy.status).toBe(1);
    expect(deploy.stderr).toContain('buyer-linking-prod-data names what is missing');
  });

  it('npm run diff compares nothing, with one sentence for each; with --direct the stacks have no gradual rollout', () => {
    const diff = run(STAGE, 'diff', '--strict', '--stage', 'prod', '--direct', '--no-notices');
    expect(diff.status).toBe(1);
    expectUnset(diff);
    expect(`${diff.stdout}${diff.stderr}`).not.toMatch(/acknowledge/i);
    expect(gradualAliases()).toEqual([]);
  });
});

describe('the CDK CLI without bin/stage.ts', () => {
  const list = (...args: string[]) =>
    run(
      'node_modules/aws-cdk/bin/cdk',
      'list',
      ...args,
      '--no-notices',
      '--app',
      'node test/bin/context-app.ts',
    );

  it('takes dev, the stage of cdk.json, if none is named', () => {
    expect(list()).toMatchObject({ status: 0, stdout: 'stack-of-dev\n' });
  });

  it('takes the stage of -c stage=<name>', () => {
    expect(list('-c', 'stage=prod')).toMatchObject({ status: 0, stdout: 'stack-of-prod\n' });
  });
});

describe('bin/app.ts', () => {
  it.each([
    ['that does not exist', { stage: 'qa' }, 'there is no "qa".'],
    ['that is not named', {}, 'name one.'],
  ])('prints a stage %s without a stack trace and exits with 1', (_, context, fault) => {
    const { status, stderr } = spawnSync(process.execPath, ['bin/app.ts'], {
      encoding: 'utf8',
      env: { ...process.env, CDK_CONTEXT_JSON: JSON.stringify(context) },
    });
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: `The stages of lib/stages.ts are dev and prod: ${fault}\n`,
    });
  });
});
