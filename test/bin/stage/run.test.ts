import { run } from '#bin/stage/run.ts';
import { STAGES } from '#lib/stages.ts';
import { ACCOUNT, startAccountDouble } from '#test/bin/account-double.ts';

const SECRET = STAGES.prod.providers.secretName;

let aws: Awaited<ReturnType<typeof startAccountDouble>>;
let own: NodeJS.ProcessEnv;
beforeAll(async () => {
  own = { ...process.env };
  aws = await startAccountDouble();
});
beforeEach(() => {
  for (const name of Object.keys(process.env).filter((each) => each.startsWith('AWS_')))
    delete process.env[name];
  Object.assign(process.env, aws.environment);
  aws.secrets.set(SECRET, '{}');
  aws.session.isExpired = false;
});
afterAll(() => {
  for (const name of Object.keys(aws.environment)) delete process.env[name];
  Object.assign(process.env, own);
  aws.stop();
});

/** Runs a command. `calls` are the runs of the CDK CLI: their arguments and environment. */
const command = async (line: string, { isInteractive = true, cdkEndsWith = 0 } = {}) => {
  const calls: { args: string; environment: Readonly<Record<string, string>> }[] = [];
  let out = '';
  let error = '';
  const exitCode = await run(line.split(' '), {
    terminal: {
      out: (text) => {
        out += text;
      },
      error: (text) => {
        error += text;
      },
      isInteractive,
    },
    cdk: async (args, environment) => {
      calls.push({ args: args.join(' '), environment });
      return cdkEndsWith;
    },
  });
  return { exitCode, out, error, calls };
};

describe('a command is refused in one sentence, before the CDK CLI runs,', () => {
  it.each([
    ['deploy without a stage', 'deploy', 'Name a stage: --stage dev or --stage prod.'],
    ['diff without a stage', 'diff', 'Name a stage: --stage dev or --stage prod.'],
    ['an unknown stage', 'deploy --stage qa', 'There is no stage "qa": --stage dev or --stage prod.'],
    ['an inherited name as stage', 'synth --stage toString', 'There is no stage "toString"'],
    [
      'an unknown option of the stage',
      'synth --stage prod -c canarry=true',
      'option "canarry" is not an option.',
    ],
    [
      'live keys in a stage other than prod',
      'deploy --stage dev -c keyPrefix=blk_live_ -c providers={"identityRegistry":["jibit"],"sms":["kavenegar"],"secretName":"x-y"}',
      'option "keyPrefix" may be "blk_live_" only in the stage prod',
    ],
    [
      'an unknown provider',
      'deploy --stage dev -c providers={"identityRegistry":["pigeon"],"sms":["kavenegar"],"secretName":"x-y"}',
      'option "providers.identityRegistry.0" must be one of "jibit"',
    ],
    [
      'the sandbox beside live keys',
      'deploy --stage prod -c providers={"identityRegistry":["sandbox"],"sms":["sandbox"],"secretName":"x-y"}',
      'option "providers" may name "sandbox" only for both ports, without another provider, and with the keyPrefix "blk_test_".',
    ],
    [
      'credentials of another account',
      'deploy --stage prod -c account=444455556666',
      `Stage prod is in account 444455556666, and these credentials are of account ${ACCOUNT}. Nothing was changed.`,
    ],
    [
      'credentials of another Region',
      'diff --stage prod -c region=eu-west-1',
      'Stage prod is in Region eu-west-1, and these credentials use eu-central-1. Nothing was changed.',
    ],
  ])('for %s', async (_, line, sentence) => {
    const { exitCode, error, calls } = await command(line);
    expect(error).toContain(sentence);
    expect(error.trim().split('\n')).toHaveLength(1);
    expect({ exitCode, calls }).toEqual({ exitCode: 1, calls: [] });
  });

  it.each(['diff', 'deploy'])('for %s without credentials', async (name) => {
    delete process.env.AWS_ACCESS_KEY_ID;
    expect(await command(`${name} --stage prod`)).toEqual({
      exitCode: 1,
      out: '',
      error: 'error: No AWS credentials were found. Sign in, or name a profile with --profile.\n',
      calls: [],
    });
  });

  it('for expired credentials', async () => {
    aws.session.isExpired = true;
    expect(await command('deploy --stage prod')).toMatchObject({
      exitCode: 1,
      error: 'error: The AWS session has expired. Sign in again.\n',
      calls: [],
    });
  });

  it('for a Region that nothing names', async () => {
    delete process.env.AWS_REGION;
    expect(await command('deploy --stage prod')).toMatchObject({
      exitCode: 1,
      error: 'error: No AWS Region is set. Name one: --region eu-central-1.\n',
      calls: [],
    });
  });

  it('for a provider secret that does not exist', async () => {
    aws.secrets.clear();
    expect(await command('deploy --stage prod')).toMatchObject({
      exitCode: 1,
      error: `error: Stage prod has no provider secret "${SECRET}" in account ${ACCOUNT}, Region eu-central-1. Create it first: docs/deploy.md, "Provider credentials". Nothing was changed.\n`,
      calls: [],
    });
  });

  it('for a deploy that could not ask, because it has no terminal', async () => {
    expect(await command('deploy --stage prod', { isInteractive: false })).toMatchObject({
      exitCode: 1,
      error: 'error: There is no terminal to confirm permission changes on. Read the diff, then add --yes.\n',
      calls: [],
    });
  });

  it.each([
    ['an unknown flag', 'deploy --stge prod', "unknown option '--stge'"],
    [
      'a stage that is named as an option',
      'deploy --stage dev -c stage=prod',
      'Name the stage with --stage.',
    ],
    ['an option without a value', 'deploy --stage dev -c canary', 'It must look like canary=true.'],
    ['an unknown stack', 'deploy --stage dev --only table', 'The stacks of a stage are api and data.'],
  ])('with exit code 2 for %s', async (_, line, words) => {
    const { exitCode, error, calls } = await command(line);
    expect(error).toContain(words);
    expect({ exitCode, calls }).toEqual({ exitCode: 2, calls: [] });
  });
});

describe('deploy', () => {
  it('lets the CDK CLI ask before permissions are broadened, in the checked Region', async () => {
    const { exitCode, out, calls } = await command('deploy --stage prod');
    expect(calls).toEqual([
      {
        args: 'deploy --all --require-approval broadening --context stage=prod --output cdk.out/prod',
        environment: { AWS_REGION: 'eu-central-1' },
      },
    ]);
    expect(out).toBe(`Deploying stage prod to account ${ACCOUNT}, Region eu-central-1.\n`);
    expect(exitCode).toBe(0);
  });

  it('does not ask with --yes', async () => {
    const { calls } = await command('deploy --stage prod --yes', { isInteractive: false });
    expect(calls[0]?.args).toContain('--require-approval never');
  });

  it('deploys one stack and replaces options of the config', async () => {
    const { calls } = await command('deploy --stage prod --only api -c canary=false');
    expect(calls[0]?.args).toBe(
      'deploy --require-approval broadening --exclusively buyer-linking-prod-api --context stage=prod --context canary=false --output cdk.out/prod',
    );
  });

  it('uses the account and Region of the config if they are those of the credentials', async () => {
    delete process.env.AWS_REGION;
    const { calls } = await command(`deploy --stage prod -c account=${ACCOUNT} -c region=eu-west-1`);
    expect(calls[0]?.environment).toEqual({ AWS_REGION: 'eu-west-1' });
  });

  it('ends with the exit code of the CDK CLI', async () => {
    expect((await command('deploy --stage prod', { cdkEndsWith: 1 })).exitCode).toBe(1);
  });
});

describe('deploy of a stage with the sandbox', () => {
  it('needs no provider secret', async () => {
    aws.secrets.clear();
    expect(await command('deploy --stage dev')).toMatchObject({ exitCode: 0, error: '' });
  });
});

describe('diff', () => {
  it('compares the named stage and needs no provider secret', async () => {
    aws.secrets.clear();
    const { calls } = await command('diff --stage prod --region us-east-1');
    expect(calls).toEqual([
      { args: 'diff --context stage=prod --output cdk.out/prod', environment: { AWS_REGION: 'us-east-1' } },
    ]);
  });
});

describe('synth', () => {
  it('builds the named stage without credentials', async () => {
    delete process.env.AWS_ACCESS_KEY_ID;
    const { calls } = await command('synth --stage prod');
    expect(calls.map(({ args }) => args)).toEqual([
      'synth --quiet --context stage=prod --output cdk.out/prod',
    ]);
  });

  it('builds every stage if none is named', async () => {
    const { calls } = await command('synth');
    expect(calls.map(({ args }) => args)).toEqual(
      Object.keys(STAGES).map((stage) => `synth --quiet --context stage=${stage} --output cdk.out/${stage}`),
    );
  });

  it('stops at the first stage that fails', async () => {
    const { exitCode, calls } = await command('synth', { cdkEndsWith: 1 });
    expect({ exitCode, runs: calls.length }).toEqual({ exitCode: 1, runs: 1 });
  });
});
