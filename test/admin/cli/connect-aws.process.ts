import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startAccountDouble } from '#test/bin/account-double.ts';
import { useTable } from '#test/table/use-table.ts';
import { startCommand } from './cli-process.ts';
import { runCommand } from './in-process.ts';
import { stageCommands } from './stage-commands.ts';

const table = useTable();
let aws: Awaited<ReturnType<typeof startAccountDouble>>;
beforeAll(async () => {
  aws = await startAccountDouble(table);
  // The SDK clients of commands that run in this process read it.
  Object.assign(process.env, aws.environment);
});
afterAll(() => aws.stop());

const onStage = (stage: string, ...args: readonly string[]) =>
  runCommand(['--stage', stage, '--json', ...args]);

/** Runs a command in this process with other variables of the environment. */
const withVariables = async (variables: Readonly<Record<string, string>>, ...args: readonly string[]) => {
  const before = { ...process.env };
  Object.assign(process.env, variables);
  try {
    return await onStage('prod', ...args);
  } finally {
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
    Object.assign(process.env, before);
  }
};

describe('the admin commands on a stage', () => {
  stageCommands({ stage: 'prod' });

  it('show the account, the Region, the release, the numbers and the raised alarms of the stage, in a process of their own too', async () => {
    const ended = await startCommand(['--stage', 'prod', '--json', 'info'], aws.environment).ended;
    expect(ended.exitCode).toBe(0);
    expect(JSON.parse(ended.out)).toMatchObject({
      stage: 'prod',
      base_url: expect.stringMatching(/^https:/),
      account: expect.stringMatching(/^\d{12}$/),
      region: 'eu-central-1',
      actor: expect.stringMatching(/^arn:aws:sts::/),
      version: '1.2.3',
      commit: 'abcdef0',
      table: table.name,
      sellers: 1,
      account_key_quota: 10_000,
      alarms: ['buyer-linking-prod-server-errors'],
    });
  });

  it('tell which function serves another version than that of the stack', async () => {
    expect(JSON.parse((await onStage('prod', 'info')).out).moved_aliases).toEqual([]);
    aws.movedAliases.set('get-user', '6');
    const { out, error } = await onStage('prod', 'info');
    aws.movedAliases.clear();
    expect(JSON.parse(out).moved_aliases).toEqual(['get-user: 6 in place of 7']);
    expect(error).toContain('Take one function back');
  });

  it('make each step of a rotation of the hash secret after a confirmation that names it', async () => {
    const rotate = (...args: readonly string[]) => onStage('prod', 'hash-secret', 'rotate', ...args);
    for (const [args, question] of [
      [[], 'Make the next step of the rotation of the hash secret?'],
      [['--back'], 'Go back a step in the rotation of the hash secret?'],
    ] as const) {
      const { exitCode, error } = await rotate(...args);
      expect([exitCode, JSON.parse(error).error.message]).toEqual([1, expect.stringContaining(question)]);
    }
    const made = [await rotate('--yes'), await rotate('--yes'), await rotate('--back', '--yes')];
    expect(made.map(({ out }) => JSON.parse(out).step)).toEqual([1, 2, 'back']);
  });
});

it.each([
  ['is not configured', 'staging', 'there is no "staging"'],
  ['is not deployed', 'dev', 'There is no stack buyer-linking-dev-api'],
])('exits with 1 and a sentence when the stage %s', async (_name, stage, words) => {
  const { exitCode, out, error } = await onStage(stage, 'sellers', 'list');
  expect([exitCode, out, JSON.parse(error).error.message]).toEqual([1, '', expect.stringContaining(words)]);
});

it.each([
  ['AWS is unreachable', { AWS_ENDPOINT_URL: 'http://127.0.0.1:1' }, 'does not respond'],
  [
    'there are no credentials',
    { AWS_PROFILE: 'none', AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' },
    'No AWS credentials',
  ],
] as const)('exits with 1 and a sentence when %s', async (_name, environment, words) => {
  const { exitCode, out, error } = await withVariables(environment, 'sellers', 'list');
  expect([exitCode, out, JSON.parse(error).error.message]).toEqual([1, '', expect.stringContaining(words)]);
});

it('exits with 1 and a sentence when the caller is not allowed', async () => {
  aws.session.mayRead = false;
  const ended = await onStage('prod', 'sellers', 'list');
  aws.session.mayRead = true;
  expect(ended).toMatchObject({ exitCode: 1, out: '' });
  expect(JSON.parse(ended.error).error.message).toContain('do not allow this command');
});

it('names the profiles that exist when --profile names another', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'profiles-'));
  await writeFile(join(folder, 'config'), '[profile shop]\nregion = eu-central-1\n');
  const environment = { AWS_CONFIG_FILE: join(folder, 'config'), AWS_SHARED_CREDENTIALS_FILE: '/nowhere' };
  const ended = await withVariables(environment, 'sellers', 'list', '--profile', 'nope');
  await rm(folder, { recursive: true });
  expect(ended.exitCode).toBe(1);
  expect(JSON.parse(ended.error).error.message).toBe('There is no AWS profile nope. The profiles are: shop.');
});
