import { connectAws, secretsClientOf } from '#admin/cli/connect-aws.ts';
import { OUTPUTS } from '#lib/outputs.ts';
import type { Stage } from '#lib/stages.ts';
import { ACCOUNT, startAccountDouble } from '#test/bin/account-double.ts';

let aws: Awaited<ReturnType<typeof startAccountDouble>>;
beforeAll(async () => {
  aws = await startAccountDouble();
  // The SDK reads them: its Region is eu-central-1.
  Object.assign(process.env, aws.environment);
});
afterAll(() => aws.stop());

const regionOf = async (place: Partial<Stage> = {}): Promise<string> =>
  (await secretsClientOf({ stage: 'prod', account: null, region: null, ...place }, {})).config.region();

const refusedFor = async (place: Partial<Stage>): Promise<{ code: string; message: string }> =>
  regionOf(place).then(
    () => ({ code: 'none', message: '' }),
    (error) => error,
  );

const HERE = `this shell is in account ${ACCOUNT} and Region eu-central-1: choose others with --profile and --region.`;

describe('the account and the Region of the shell', () => {
  it('are used if the config of the stage names none, or these', async () => {
    expect(await regionOf()).toBe('eu-central-1');
    expect(await regionOf({ account: ACCOUNT, region: 'eu-central-1' })).toBe('eu-central-1');
  });

  it('are refused in one sentence if the config names another account or another Region', async () => {
    expect(await refusedFor({ account: '444455556666' })).toMatchObject({
      code: 'not_allowed',
      message: `Stage prod is in account 444455556666 and Region eu-central-1, but ${HERE}`,
    });
    expect(await refusedFor({ account: ACCOUNT, region: 'eu-west-1' })).toMatchObject({
      code: 'not_allowed',
      message: `Stage prod is in account ${ACCOUNT} and Region eu-west-1, but ${HERE}`,
    });
  });

  it('are refused for a connection to the stage too, which the smoke test makes as well', async () => {
    const names = { apiStackName: String, alarmNamePrefix: String, usagePlanOutput: String, OUTPUTS };
    const place = { stage: 'prod', account: ACCOUNT, region: 'eu-west-1' };
    await expect(connectAws(names, place, {})).rejects.toMatchObject({ code: 'not_allowed' });
  });

  it('are not told for an expired session', async () => {
    aws.session.isExpired = true;
    await expect(regionOf()).rejects.toMatchObject({ name: 'ExpiredToken' });
    aws.session.isExpired = false;
  });
});
