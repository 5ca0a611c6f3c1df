import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { releaseOf } from '#lib/release.ts';
import { jsonOf, startCommand } from './cli-process.ts';
import { startTestShell, type TestShell } from './test-shell.ts';

/** Commands in processes of their own, as people type them. */
let shell: TestShell;
beforeAll(async () => {
  shell = await startTestShell();
});
afterAll(() => shell.stop());

const run = (...args: string[]) => startCommand(['--data', shell.folder, ...args]).ended;
const json = (...args: string[]) => jsonOf(run('--json', ...args));

const newKey = (seller: string) =>
  shell.json('keys', 'issue', seller, '--plan', 'free', '--scopes', 'users:read');

it('a command that is repeated writes no second audit record', async () => {
  const { seller_id } = await shell.json('sellers', 'create', 'Repeated', '--yes');
  const { key_id } = await newKey(seller_id);
  for (const command of [
    ['sellers', 'suspend', seller_id, '--yes'],
    ['sellers', 'resume', seller_id],
    ['keys', 'assign', key_id, '--plan', 'professional'],
    ['keys', 'scopes', key_id, '--set', 'users:write'],
    ['keys', 'limits', key_id, '--set', 'sms-per-hour=5'],
    ['keys', 'expire', key_id, '--at', '2099-01-31'],
    ['keys', 'revoke', key_id, '--yes'],
  ]) {
    for (const _ of ['once', 'again']) await shell.json(...command);
  }
  const { records } = await shell.json('audit', seller_id);
  expect(records.map(({ action }: { action: string }) => action).reverse()).toEqual([
    'seller.created',
    'key.issued',
    'seller.suspended',
    'seller.resumed',
    'key.assigned',
    'key.scopes_set',
    'key.limits_set',
    'key.expiry_set',
    'key.revoked',
  ]);
  expect(await shell.json('reconcile')).toMatchObject({ differences: [] });
});

describe('buyers add', () => {
  it('registers a phone from stdin once, with one audit record', async () => {
    const add = () => startCommand(['--data', shell.folder, 'buyers', 'add', '-'], {}, '09351234567\n').ended;
    const [added, again] = [await add(), await add()];
    expect(added).toMatchObject({ exitCode: 0, error: '' });
    expect(again).toMatchObject({
      exitCode: 0,
      out: added.out,
      error: 'The phone was registered already.\n',
    });
    const { records } = await json('audit', 'deployment');
    expect(records.filter(({ action }: { action: string }) => action === 'buyer.added')).toMatchObject([
      { details: { buyer_id: expect.stringMatching(/^byr_/) } },
    ]);
  });
});

describe('buyers import', () => {
  it('shows counts that add up to the lines of the file', async () => {
    const file = join(shell.folder, 'counted.txt');
    await writeFile(file, '09361112233\n09361112233\n\nnobody\n09361112244\n');
    const { exitCode, out } = await run('buyers', 'import', file);
    const counts = Object.fromEntries(out.split('\n').map((line) => line.split('\t')));
    expect({ exitCode, ...counts }).toMatchObject({
      exitCode: 0,
      lines: '5',
      added: '2',
      already_registered: '1',
      rejected: '1',
      blank: '1',
    });
  });
});

describe('info', () => {
  it('shows the stage, the release, the table and the numbers of the local service', async () => {
    const { sellers } = await shell.json('sellers', 'list');
    expect(await json('info')).toEqual({
      stage: 'local',
      base_url: 'http://127.0.0.1:1',
      account: null,
      region: null,
      actor: expect.stringMatching(/^local:/),
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      commit: releaseOf().commit,
      table: shell.table.name,
      sellers: sellers.length,
      suspended_sellers: 0,
      keys: expect.any(Number),
      account_keys: expect.any(Number),
      account_key_quota: 10_000,
      alarms: null,
      canary_key: null,
    });
    expect((await run('info')).out).toContain(`table\t${shell.table.name}\n`);
  });
});
