/** The CDK app under the CDK CLI, and the npm scripts that run it for one stage. */
import { execFile, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { withThisNode } from '../deploy/command.ts';
import { startAccountDouble } from './account-double.ts';

/** No credentials, wherever the tests run. */
const NO_CREDENTIALS = {
  AWS_PROFILE: undefined,
  AWS_ACCESS_KEY_ID: undefined,
  AWS_SECRET_ACCESS_KEY: undefined,
  AWS_EC2_METADATA_DISABLED: 'true',
  AWS_CONFIG_FILE: '/dev/null',
  AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
};

const environment = (variables: NodeJS.ProcessEnv = NO_CREDENTIALS) =>
  ({ ...withThisNode(), ...variables }) as NodeJS.ProcessEnv;

const run = (...args: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    env: environment(),
  });
  return { status, stdout, stderr };
};

/** Runs a program while this process serves the account that it calls. */
const runInAccount = (variables: NodeJS.ProcessEnv, ...args: readonly string[]) => {
  const { promise, resolve } = Promise.withResolvers<ReturnType<typeof run>>();
  const child = execFile(process.execPath, args, { env: environment(variables) }, (_, stdout, stderr) =>
    resolve({ status: child.exitCode, stdout, stderr }),
  );
  return promise;
};

const STAGE = 'bin/stage.ts';

/** An app of its own: a synthesis of the service takes ten seconds. */
const APP = ['--no-notices', '--app', 'node test/bin/context-app.ts'];

/** The sentences about prod, each of which must be printed once. */
const UNSET = ['account', 'region', 'alarms', 'spend', 'backupCopy'].map(
  (name) => `Set ${name} of prod in lib/stages.ts: `,
);

const expectUnset = ({ stdout, stderr }: ReturnType<typeof run>): void => {
  for (const sentence of UNSET) expect(`${stdout}${stderr}`.split(sentence)).toHaveLength(2);
};

const PROD = 'cdk.out/prod';

describe('bin/stage.ts', () => {
  /** The CLI names the stacks if there are more than one. Where CI is set, it writes to stdout. */
  const stacksIn = ({ stdout, stderr }: ReturnType<typeof run>) =>
    `${stdout}${stderr}`.match(/buyer-linking-\w+-(?:data|api)\b/g);

  it('synthesizes every stage if none is named', () => {
    const synth = run(STAGE, 'synth', '--quiet', ...APP);
    expect(synth.status).toBe(0);
    expect(synth.stderr.match(/^stage .*/gm)).toEqual(['stage dev', 'stage prod']);
    expect(stacksIn(synth)).toEqual(
      ['dev', 'prod'].flatMap((stage) => [`buyer-linking-${stage}-data`, `buyer-linking-${stage}-api`]),
    );
    for (const stage of ['dev', 'prod'])
      expect(existsSync(`cdk.out/${stage}/buyer-linking-${stage}-api.template.json`)).toBe(true);
  });

  it('shows no control character of the stage that was named', () => {
    const synth = run(STAGE, 'synth', '--stage', 'x\u001b[31m');
    expect([synth.status, synth.stderr]).toEqual([
      2,
      '--stage dev or --stage prod: there is no stage "x\\u001b[31m". Try --help.\n',
    ]);
  });

  it('takes the API stack alone with --api', () => {
    const synth = run(STAGE, 'synth', '--quiet', '--stage', 'dev', '--api', ...APP);
    expect([synth.status, stacksIn(synth)]).toEqual([0, null]);
  });

  it('passes the stage on to the CDK app, and all other arguments to the CDK CLI', () => {
    expect(run(STAGE, 'list', '--stage=prod', ...APP)).toMatchObject({
      status: 0,
      stdout: 'buyer-linking-prod-data\nbuyer-linking-prod-api\n',
      stderr: expect.stringContaining('stage prod\n'),
    });
    expect(run(STAGE, 'deploy', '--help')).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^Usage: npm run deploy -- --stage [\s\S]+cdk deploy/),
    });
  });

  it('exits with 1 if the CDK CLI is killed, as where memory is short', () => {
    const { status } = run(STAGE, 'synth', '--stage', 'dev', '--no-notices', '--app', 'kill -9 $PPID');
    expect(status).toBe(1);
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

  it('and the smoke test are what the scripts of package.json run', () => {
    expect(packageJson.scripts).toMatchObject({
      bootstrap: 'node bin/stage.ts bootstrap',
      synth: 'node bin/stage.ts synth --quiet',
      diff: 'node bin/stage.ts diff --strict',
      deploy: 'node bin/stage.ts deploy --strict',
      demo: 'node bin/smoke.ts --local --steps',
    });
  });
});

describe('the scripts that call AWS', () => {
  let account: Awaited<ReturnType<typeof startAccountDouble>>;
  beforeAll(async () => {
    account = await startAccountDouble();
  });
  afterAll(() => account.stop());

  it.each(['bootstrap', 'diff', 'deploy'])(
    'npm run %s says in one sentence that there are no credentials',
    (command) => {
      const { status, stdout, stderr } = run(STAGE, command, '--stage', 'dev');
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
      expect(stderr).toMatch(
        /^The AWS credentials do not work \(.+\)\. Sign in, .+ --profile or AWS_PROFILE\.\n$/,
      );
    },
  );

  it('give the reason of AWS for credentials that it refuses, and go on to CDK with others', async () => {
    const { environment: variables, session } = account;
    const diff = () => runInAccount(variables, STAGE, 'diff', '--stage', 'dev', ...APP);
    expect((await diff()).stderr).toContain('stage dev');
    session.isExpired = true;
    const { status, stderr } = await diff();
    expect(status).toBe(1);
    expect(stderr).toMatch(/^The AWS credentials do not work \(ExpiredToken: expired\)\. [^\n]+\n$/);
  });
});

describe('the scripts for prod, while it must set something', () => {
  let synth: ReturnType<typeof run>;
  let stacks: readonly string[];
  beforeAll(() => {
    synth = run(STAGE, 'synth', '--quiet', '--no-notices', '--stage', 'prod');
    const { artifacts } = JSON.parse(readFileSync(`${PROD}/manifest.json`, 'utf8'));
    stacks = Object.keys(artifacts).filter((id) => artifacts[id].type === 'aws:cloudformation:stack');
  });

  it('npm run synth builds the stacks of prod only, exits 0, and says in one note that it cannot be deployed', () => {
    expect(synth.status).toBe(0);
    const output = `${synth.stdout}${synth.stderr}`;
    expect(output).not.toMatch(/error|warning/i);
    expect(output.match(/^Note: .+$/gm)).toEqual([
      'Note: prod is not set up, and cannot be deployed yet (docs/operators/deploy.md, "Prod").',
    ]);
    expect(stacks.toSorted()).toEqual(['buyer-linking-prod-api', 'buyer-linking-prod-data']);
  });

  it.each([
    ['deploy', ['deploy', '--strict']],
    ['deploy of what synth wrote', ['deploy', '--strict', '--app', PROD]],
    ['deploy of the API stack alone', ['deploy', '--strict', '--api']],
    ['diff', ['diff', '--strict']],
  ])('npm run %s does nothing, with one sentence for each setting', (_, args) => {
    const result = run(STAGE, ...args, '--stage', 'prod', '--no-notices');
    expect(result.status).toBe(1);
    expectUnset(result);
    expect(result.stderr.trim().split('\n')).toHaveLength(UNSET.length);
  });

  it('the CDK CLI deploys neither the stage nor the API stack alone', () => {
    const cdk = ['node_modules/aws-cdk/bin/cdk', 'deploy', '--no-notices', '--output', PROD];
    const whole = run(...cdk, '--all', '-c', 'stage=prod');
    expect(whole.status).toBe(1);
    expectUnset(whole);
    expect(`${whole.stdout}${whole.stderr}`).not.toMatch(/acknowledge/i);
    // What it wrote, in place of the app.
    const alone = run(...cdk, '--exclusively', 'buyer-linking-prod-api', '--app', PROD);
    expect(alone.status).toBe(1);
    expect(alone.stderr).toContain('buyer-linking-prod-data names what is missing');
  });
});

test('the CDK CLI without bin/stage.ts takes dev, the stage of cdk.json, if none is named', () => {
  expect(run('node_modules/aws-cdk/bin/cdk', 'list', ...APP)).toMatchObject({
    status: 0,
    stdout: 'buyer-linking-dev-data\nbuyer-linking-dev-api\n',
  });
});

test('bin/app.ts prints a wrong stage without a stack trace and exits with 1', () => {
  const { status, stderr } = spawnSync(process.execPath, ['bin/app.ts'], {
    encoding: 'utf8',
    env: { ...process.env, CDK_CONTEXT_JSON: JSON.stringify({ stage: 'qa' }) },
  });
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: 'The stages of lib/stages.ts are dev and prod: there is no "qa".\n',
  });
});

describe('in a copy with other settings', () => {
  let copy = '';
  beforeAll(() => {
    copy = mkdtempSync(join(tmpdir(), 'buyer-linking-stages-'));
    for (const path of ['admin/cli', 'bin', 'lib', 'shared', 'package.json', 'tsconfig.json'])
      cpSync(path, join(copy, path), { recursive: true });
    symlinkSync(resolve('node_modules'), join(copy, 'node_modules'));
  });
  afterAll(() => rmSync(copy, { recursive: true }));

  const stages = readFileSync('lib/stages.ts', 'utf8');

  /** Runs bin/stage.ts of the copy, in whose lib/stages.ts each text is replaced by another. */
  const runWith = (changes: Readonly<Record<string, string>>, ...args: readonly string[]) => {
    const changed = Object.entries(changes).reduce((text, [from, to]) => {
      expect(text).toMatch(from);
      return text.replace(from, to);
    }, stages);
    writeFileSync(join(copy, 'lib/stages.ts'), changed);
    return run(join(copy, STAGE), ...args);
  };

  test('a wrong name of a setting is one sentence before CDK runs', () => {
    const wrong = { 'logRetentionDays: 14': 'logRetentionDay: 14' };
    const { status, stdout, stderr } = runWith(wrong, 'synth', '--stage', 'dev');
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^lib\/stages\.ts\(\d+,5\): error [^\n]+ 'logRetentionDays'\?\n$/);
  });

  test('a deploy of live keys from a laptop says in one line what the workflow checks, and goes on', () => {
    const complete = {
      'account: null, // Set': `account: '123456789012', // Set`,
      'region: null, // Set': `region: 'eu-central-1', // Set`,
      'backupCopy: null': `backupCopy: 'none'`,
      'alarms: null, // Set': `alarms: { email: 'on-call@example.com' }, // Set`,
      'paidChecksPerDay: null, smsPerDay: null }, // Set':
        'paidChecksPerDay: 5000, smsPerDay: 10_000 }, // Set',
    };
    const deploy = runWith(complete, 'deploy', '--stage', 'prod');
    expect(deploy.stderr.trim().split('\n')).toEqual([
      expect.stringMatching(/^Note: only the workflow Deploy checks that this commit was deployed to dev/),
      expect.stringContaining('credentials'),
    ]);
    for (const args of [
      ['diff', '--stage', 'prod'],
      ['deploy', '--stage', 'dev'],
      ['deploy', '--stage', 'prod', '--app', 'cdk.out/prod'],
    ])
      expect(runWith(complete, ...args).stderr).not.toContain('Note:');
  });
});
