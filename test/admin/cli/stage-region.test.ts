import { secretsClientOf } from '#admin/cli/connect-aws.ts';
import { STAGES, type Stage } from '#lib/stages.ts';
import { ACCOUNT, startAccountDouble } from '#test/bin/account-double.ts';

let aws: Awaited<ReturnType<typeof startAccountDouble>>;
let own: NodeJS.ProcessEnv;
beforeAll(async () => {
  own = { ...process.env };
  aws = await startAccountDouble();
  // The SDK reads them: its Region is eu-central-1.
  Object.assign(process.env, aws.environment);
});
afterAll(() => {
  for (const name of Object.keys(aws.environment)) delete process.env[name];
  Object.assign(process.env, own);
  aws.stop();
});

const regionOf = async (changes: Partial<Stage> = {}): Promise<string> =>
  (await secretsClientOf('prod', { ...STAGES.prod, ...changes }, {})).config.region();

describe('the Region of a stage', () => {
  it('is that of the credentials if the config names none', async () => {
    expect(await regionOf()).toBe('eu-central-1');
    expect(await regionOf({ account: ACCOUNT })).toBe('eu-central-1');
  });

  it('is that of the config, whatever the Region of the credentials', async () => {
    expect(await regionOf({ region: 'eu-west-1' })).toBe('eu-west-1');
    process.env.AWS_REGION = aws.environment.AWS_REGION;
  });

  it('is refused in one sentence for credentials of another account', async () => {
    await expect(regionOf({ account: '444455556666' })).rejects.toMatchObject({
      code: 'not_allowed',
      message: `Stage prod is in account 444455556666, and these credentials are of account ${ACCOUNT}. Nothing was changed.`,
    });
  });

  it('is not returned for an expired session', async () => {
    aws.session.isExpired = true;
    await expect(regionOf()).rejects.toMatchObject({ name: 'ExpiredToken' });
    aws.session.isExpired = false;
  });
});
