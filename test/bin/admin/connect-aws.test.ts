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
  ['the stage does not exist', 'staging', {}, 'There is no stack buyer-linking-staging-api'],
  ['the caller is not allowed', 'forbidden', {}, 'do not allow this command'],
  ['AWS is unreachable', 'prod', { AWS_ENDPOINT_URL: 'http://127.0.0.1:1' }, 'does not answer'],
  [
    'the profile does not exist',
    'prod',
    { AWS_PROFILE: 'none', AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' },
    'No AWS credentials',
  ],
] as const)(
  'exits with 1 and a sentence when %s',
  async (_name, stage, environment, words) => {
    const ended = await onStage(stage, ['sellers', 'list'], environment);
    expect(ended).toMatchObject({ exitCode: 1, out: '' });
    expect(JSON.parse(ended.error).error.message).toContain(words);
  },
  30_000,
);
