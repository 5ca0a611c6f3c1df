/**
 * The npm scripts that run the CDK CLI for one stage, in a copy of the repository whose CDK CLI prints its arguments, and what the CDK CLI itself does
 * with the app. A synthesis takes seven CPU seconds: that of `npm run synth` is in stage.nightly.ts.
 */
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import cdkJson from '../../cdk.json' with { type: 'json' };
import packageJson from '../../package.json' with { type: 'json' };
import { startAccountDouble } from './account-double.ts';
import { APP, copyOfStages, environment, PROD, run, STAGE } from './stage-programs.ts';

/** Runs a program while this process serves the account that it calls. */
const runInAccount = (variables: NodeJS.ProcessEnv, ...args: readonly string[]) => {
  const { promise, resolve } = Promise.withResolvers<ReturnType<typeof run>>();
  const child = execFile(process.execPath, args, { env: environment(variables) }, (_, stdout, stderr) =>
    resolve({ status: child.exitCode, stdout, stderr }),
  );
  return promise;
};

/** The sentences about prod, each of which must be printed once. */
const UNSET = ['account', 'region', 'alarms', 'spend', 'backupCopy'].map(
  (name) => `Set ${name} of prod in lib/stages.ts: `,
);

const expectUnset = ({ stdout, stderr }: ReturnType<typeof run>): void => {
  for (const sentence of UNSET) expect(`${stdout}${stderr}`.split(sentence)).toHaveLength(2);
};

/** Without the CDK CLI and the compiler, of which each start takes a CPU second. */
let copy = '';
beforeAll(() => {
  copy = copyOfStages({
    // The compiler takes the stages as they are.
    '@typescript/native/bin/tsc': '',
    'aws-cdk/bin/cdk': `
      if (process.argv.includes('killed')) process.kill(process.pid, 'SIGKILL');
      console.log(JSON.stringify(process.argv.slice(2)));
    `,
  });
});
afterAll(() => rmSync(copy, { recursive: true }));

const runCopy = (...args: readonly string[]) => run(join(copy, STAGE), ...args);

/** What the CDK CLI of the copy got at each start. */
const startsIn = (stdout: string): readonly (readonly string[])[] =>
  stdout
    .split('\n')
    .filter((line) => line.startsWith('['))
    .map((line) => JSON.parse(line));

const contextOf = (...pairs: readonly string[]) => pairs.flatMap((pair) => ['--context', pair]);

describe('bin/stage.ts', () => {
  it('synthesizes every stage if none is named', () => {
    const { status, stdout } = runCopy('synth', '--quiet');
    expect([status, startsIn(stdout)]).toEqual([
      0,
      ['dev', 'prod'].map((stage) => [
        ...['synth', '--quiet', ...contextOf(`stage=${stage}`, 'synth=true')],
        ...['--output', `cdk.out/${stage}`],
      ]),
    ]);
  });

  it('shows no control character of the stage that was named', () => {
    const synth = run(STAGE, 'synth', '--stage', 'x\u001b[31m');
    expect([synth.status, synth.stderr]).toEqual([
      2,
      '--stage dev or --stage prod: there is no stage "x\\u001b[31m". Try --help.\n',
    ]);
  });

  it('takes the API stack alone with --api', () => {
    const { status, stdout } = runCopy('synth', '--stage', 'dev', '--api');
    expect([status, startsIn(stdout)]).toEqual([
      0,
      [
        [
          ...['synth', '--exclusively', 'buyer-linking-dev-api'],
          ...[...contextOf('stage=dev', 'synth=true'), '--output', 'cdk.out/dev'],
        ],
      ],
    ]);
  });

  it('passes the stage on to the CDK app, and all other arguments to the CDK CLI', () => {
    expect(run(STAGE, 'list', '--stage=prod', ...APP)).toMatchObject({
      status: 0,
      stdout: 'buyer-linking-prod-data\nbuyer-linking-prod-api\n',
      stderr: expect.stringContaining('stage prod\n'),
    });
    const help = runCopy('deploy', '--help');
    expect(help).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^Usage: npm run deploy -- --stage /),
    });
    expect(startsIn(help.stdout)).toEqual([expect.arrayContaining(['deploy', '--help'])]);
  });

  it('exits with 1 if the CDK CLI is killed, as where memory is short', () => {
    expect(runCopy('synth', '--stage', 'dev', 'killed')).toMatchObject({ status: 1, stdout: '' });
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
      const { status, stdout, stderr } = runCopy(command, '--stage', 'dev');
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
      expect(stderr).toMatch(
        /^The AWS credentials do not work \(.+\)\. Sign in, .+ --profile or AWS_PROFILE\.\n$/,
      );
    },
  );

  it('give the reason of AWS for credentials that it refuses, and go on to CDK with others', async () => {
    const { environment: variables, session } = account;
    const diff = () => runInAccount(variables, join(copy, STAGE), 'diff', '--stage', 'dev');
    expect(startsIn((await diff()).stdout)).toHaveLength(1);
    session.isExpired = true;
    const { status, stdout, stderr } = await diff();
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^The AWS credentials do not work \(ExpiredToken: expired\)\. [^\n]+\n$/);
  });
});

describe('the scripts for prod, while it must set something', () => {
  it.each([
    ['deploy', ['deploy', '--strict']],
    ['deploy of what synth wrote', ['deploy', '--strict', '--app', PROD]],
    ['deploy of the API stack alone', ['deploy', '--strict', '--api']],
    ['diff', ['diff', '--strict']],
  ])('npm run %s does nothing, with one sentence for each setting', (_, args) => {
    const result = runCopy(...args, '--stage', 'prod');
    expect([result.status, result.stdout]).toEqual([1, '']);
    expectUnset(result);
    expect(result.stderr.trim().split('\n')).toHaveLength(UNSET.length);
  });

  it('the CDK CLI deploys neither the stage nor the API stack alone', () => {
    // test/lib/stages.templates.ts applies the rules of CloudFormation, which take four CPU seconds.
    const quick = ['--no-notices', '--no-validation'];
    const cdk = ['node_modules/aws-cdk/bin/cdk', 'deploy', ...quick, '--output', PROD];
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

test('cdk.json names dev, the stage of the CDK CLI without bin/stage.ts, and the app of the service', () => {
  expect(cdkJson).toMatchObject({ app: 'node bin/app.ts', context: { stage: 'dev' } });
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

describe('with other settings', () => {
  const stages = readFileSync('lib/stages.ts', 'utf8');
  afterEach(() => writeFileSync(join(copy, 'lib/stages.ts'), stages));

  /** Replaces each text of lib/stages.ts in a copy by another. */
  const changeStages = (folder: string, changes: Readonly<Record<string, string>>): void => {
    const changed = Object.entries(changes).reduce((text, [from, to]) => {
      expect(text).toMatch(from);
      return text.replace(from, to);
    }, stages);
    writeFileSync(join(folder, 'lib/stages.ts'), changed);
  };

  test('a wrong name of a setting is one sentence before CDK runs', () => {
    const compiling = copyOfStages({ 'aws-cdk/bin/cdk': "console.log('started')" });
    changeStages(compiling, { 'logRetentionDays: 14': 'logRetentionDay: 14' });
    const { status, stdout, stderr } = run(join(compiling, STAGE), 'synth', '--stage', 'dev');
    rmSync(compiling, { recursive: true });
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
    changeStages(copy, complete);
    const deploy = runCopy('deploy', '--stage', 'prod');
    expect(deploy.stderr.trim().split('\n')).toEqual([
      expect.stringMatching(/^Note: only the workflow Deploy checks that this commit was deployed to dev/),
      expect.stringContaining('credentials'),
    ]);
    for (const args of [
      ['diff', '--stage', 'prod'],
      ['deploy', '--stage', 'dev'],
      ['deploy', '--stage', 'prod', '--app', 'cdk.out/prod'],
    ])
      expect(runCopy(...args).stderr).not.toContain('Note:');
  });
});
