import { startAwsDouble } from './aws-double.ts';
import { startCommand } from './cli-process.ts';
import { stageCommands } from './stage-commands.ts';

let aws: Awaited<ReturnType<typeof startAwsDouble>>;
beforeAll(async () => {
  aws = await startAwsDouble();
});
afterAll(() => aws.stop());

const onStage = (
  stage: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
) => startCommand(['--stage', stage, '--json', ...args], { ...aws.environment, ...environment }).ended;

describe('the admin commands on a stage', () => {
  stageCommands({ stage: 'prod', environment: () => aws.environment });
});

it.each([
  ['a stage that is not there', 'staging', {}, 'There is no stack buyer-linking-staging-api'],
  ['a caller who may not', 'forbidden', {}, 'may not do that'],
  ['nobody there', 'prod', { AWS_ENDPOINT_URL: 'http://127.0.0.1:1' }, 'does not answer'],
  [
    'a profile that is not there',
    'prod',
    { AWS_PROFILE: 'none', AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' },
    'No AWS credentials',
  ],
] as const)(
  '%s: exit code 1 and a sentence',
  async (_name, stage, environment, words) => {
    const ended = await onStage(stage, ['sellers', 'list'], environment);
    expect(ended).toMatchObject({ exitCode: 1, out: '' });
    expect(JSON.parse(ended.error).error.message).toContain(words);
  },
  30_000,
);
