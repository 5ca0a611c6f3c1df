import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCommand } from '#test/admin/cli-process.ts';
import { CALLER_ARN, startAwsDouble } from './aws-double.ts';

let aws: Awaited<ReturnType<typeof startAwsDouble>>;
let folder: string;
beforeAll(async () => {
  aws = await startAwsDouble();
  folder = await mkdtemp(join(tmpdir(), 'admin-aws-'));
});
afterAll(async () => {
  await aws.stop();
  await rm(folder, { recursive: true });
});

const onStage = (
  stage: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
) => startCommand(['--stage', stage, '--json', ...args], { ...aws.environment, ...environment }).ended;

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever JSON came back.
const onProd = async (...args: string[]): Promise<any> => {
  const ended = await onStage('prod', args);
  expect(ended).toMatchObject({ exitCode: 0, error: '' });
  return JSON.parse(ended.out);
};

it('finds a stage by the outputs of its stack, and acts with the caller’s own identity', async () => {
  const { seller_id } = await onProd('sellers', 'create', 'Kaveh Books');
  const issued = await onProd('keys', 'issue', seller_id, '--plan', 'free', '--scopes', 'users:read');
  expect(issued.key).toMatch(/^blk_live_/);
  await onProd('keys', 'assign', issued.key_id, '--plan', 'professional');
  await onProd('keys', 'revoke', issued.key_id, '--yes');
  expect((await onProd('reconcile')).differences).toEqual([]);
  const { records } = await onProd('audit', issued.key_id);
  expect(records.map(({ actor }: { actor: string }) => actor)).toEqual([CALLER_ARN, CALLER_ARN, CALLER_ARN]);
}, 30_000);

it('imports buyers under the digest secret of the stage', async () => {
  const file = join(folder, 'buyers.csv');
  await writeFile(file, 'phone\n09120000001\n09120000002\n');
  expect(await onProd('buyers', 'import', file)).toMatchObject({ added: 2 });
  expect(await onProd('buyers', 'show', '09120000001')).toMatchObject({
    buyer_id: expect.stringMatching(/^byr_/),
  });
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
