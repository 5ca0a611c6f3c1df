import { readKeyViews } from '#admin/cli/views.ts';
import { issueKey } from '#admin/operations/issue-key.ts';
import { createSeller } from '#admin/operations/sellers.ts';
import { releaseOf } from '#lib/release.ts';
import { KEY_LIMIT_NAMES, keyLimit, minuteLimit } from '#shared/rate-limits/key-limits.ts';
import { limiterOn } from '#test/shared/rate-limits/limiter-on.ts';
import { startTestShell, type TestShell } from './test-shell.ts';

let shell: TestShell;
beforeAll(async () => {
  shell = await startTestShell();
});
afterAll(() => shell.stop());

const SECRET = /blk_test_[0-9A-Za-z]{38}/;

const newKey = async (...options: string[]) => {
  const { seller_id } = await createSeller(shell.admin, 'Kaveh Books');
  return shell.json('keys', 'issue', seller_id, '--plan', 'free', '--scopes', 'users:read', ...options);
};

describe('sellers', () => {
  it('creates, lists and shows sellers in a stable shape, oldest first', async () => {
    const first = await shell.json('sellers', 'create', '  Kaveh Books  ', '--yes');
    const second = await shell.json('sellers', 'create', 'کتاب کاوه');
    expect(first).toEqual({
      seller_id: expect.stringMatching(/^sel_[0-9A-Za-z]{22}$/),
      name: 'Kaveh Books',
      status: 'active',
      users: 0,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    });
    expect((await shell.json('sellers', 'list')).sellers.slice(-2)).toEqual([first, second]);
    expect(await shell.json('sellers', 'show', second.seller_id)).toEqual({
      ...second,
      keys: [],
      templates: [],
    });
  });
});

describe('keys list', () => {
  it('lists the keys of all sellers, with their sellers', async () => {
    const [first, second] = [await newKey('--name', 'Warehouse'), await newKey('--name', 'Reports')];
    const { keys } = await shell.json('keys', 'list');
    for (const { key: _, ...key } of [first, second]) expect(keys).toContainEqual(key);
    const { out } = await shell.cli('keys', 'list');
    expect(out).toMatch(/^key {2,}name {2,}seller name {2,}/);
    expect(out).toMatch(new RegExp(`^${second.key_id}  Reports {2,}Kaveh Books  `, 'm'));
  });

  it('lists the active keys that expire until then, within 14 days by default, the first one first', async () => {
    const [later, sooner, revoked] = [
      await newKey('--expires', '20d'),
      await newKey('--expires', '10d'),
      await newKey('--expires', '5d'),
    ];
    const others = [await newKey('--expires', '40d'), await newKey()];
    await shell.json('keys', 'revoke', revoked.key_id, '--yes');
    // Other tests issue keys that expire too.
    const own = [later, sooner, revoked, ...others].map(({ key_id }) => key_id);
    const ids = async (...when: string[]) =>
      (await shell.json('keys', 'list', '--expiring', ...when)).keys
        .map(({ key_id }: { key_id: string }) => key_id)
        .filter((id: string) => own.includes(id));
    expect(await ids('30d')).toEqual([sooner.key_id, later.key_id]);
    expect(await ids()).toEqual([sooner.key_id]);
  });
});

describe('keys', () => {
  it('shows the secret of a key when it is issued or rotated, and never again', async () => {
    const issued = await newKey('--name', 'server', '--expires', '90d');
    expect(issued.key).toMatch(SECRET);
    const rotated = await shell.json('keys', 'rotate', issued.key_id, '--grace', '24h');
    expect(rotated.key).toMatch(SECRET);
    expect(rotated.key).not.toBe(issued.key);
    const others = await Promise.all([
      shell.cli('keys', 'show', issued.key_id),
      shell.cli('keys', 'show', issued.key_id, '--json'),
      shell.cli('keys', 'list', issued.seller_id),
      shell.cli('keys', 'list', issued.seller_id, '--json'),
      shell.cli('sellers', 'show', issued.seller_id, '--json'),
      shell.cli('audit', issued.key_id, '--json'),
      shell.cli('usage', issued.key_id, '--json'),
      shell.cli('keys', 'limits', issued.key_id, '--json'),
    ]);
    expect(others.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
    expect(JSON.stringify(others)).not.toMatch(SECRET);
  });

  it('lists keys in a stable shape, without their secrets, each with the day of its own latest request', async () => {
    const { key, ...issued } = await newKey('--name', 'server', '--expires', '2099-01-31');
    const issue = ['keys', 'issue', issued.seller_id, '--plan', 'free', '--scopes', 'users:read'];
    const { key: _, ...used } = await shell.json(...issue);
    await shell.countRequest(used.key_id);
    expect(await shell.json('keys', 'list', issued.seller_id)).toEqual({
      keys: [issued, { ...used, last_used_on: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) }],
    });
    expect(issued).toEqual({
      key_id: expect.stringMatching(/^key_/),
      seller_id: expect.stringMatching(/^sel_/),
      seller_name: 'Kaveh Books',
      name: 'server',
      status: 'active',
      plan: 'free',
      scopes: ['users:read'],
      prefix: 'blk_test_',
      last_four: key.slice(-4),
      created_at: expect.any(String),
      expires_at: '2099-01-31T00:00:00Z',
      last_used_on: null,
      secrets: [
        {
          prefix: 'blk_test_',
          last_four: key.slice(-4),
          created_at: expect.any(String),
          created_by: 'admin',
          expires_at: '2099-01-31T00:00:00Z',
        },
      ],
    });
  });

  it('shows what the authorizer makes of a key: active, seller suspended or expired', async () => {
    const { key_id, seller_id } = await newKey('--expires', '1h');
    const statusOf = async () => (await shell.json('keys', 'show', key_id)).status;
    expect(await statusOf()).toBe('active');
    expect(await shell.json('sellers', 'suspend', seller_id, '--yes')).toMatchObject({ status: 'suspended' });
    expect(await statusOf()).toBe('seller suspended');
    expect(await shell.json('sellers', 'resume', seller_id)).toMatchObject({ status: 'active' });
    const anHourLater = { ...shell.admin, clock: () => Date.now() + 3_600_001 };
    const keys = await shell.admin.keys.listOf(seller_id);
    expect((await readKeyViews(anHourLater, keys)).map(({ status }) => status)).toEqual(['expired']);
  });

  it('renames a key, and says if a change was made before', async () => {
    const { key_id } = await newKey('--name', 'server');
    expect(await shell.json('keys', 'rename', key_id, 'checkout of Shiraz')).toMatchObject({
      key_id,
      name: 'checkout of Shiraz',
    });
    expect(await shell.json('keys', 'show', 'Checkout of Shiraz')).toMatchObject({ key_id });
    const again = [
      await shell.cli('keys', 'rename', key_id, 'checkout of Shiraz'),
      await shell.cli('keys', 'assign', key_id, '--plan', 'free'),
      await shell.cli('keys', 'revoke', key_id, '--yes'),
      await shell.cli('keys', 'revoke', key_id, '--yes'),
    ];
    expect(again.map(({ exitCode, error }) => [exitCode, error])).toEqual([
      [0, `${key_id} was like this already. Nothing was changed.\n`],
      [0, `${key_id} was like this already. Nothing was changed.\n`],
      [0, ''],
      [0, `${key_id} was like this already. Nothing was changed.\n`],
    ]);
  });

  it('assigns, sets scopes and expiry, rotates and revokes', async () => {
    const { key_id } = await newKey();
    expect(await shell.json('keys', 'assign', key_id, '--plan', 'professional')).toMatchObject({
      plan: 'professional',
    });
    expect(await shell.json('keys', 'scopes', key_id, '--set', 'users:write,users:read')).toMatchObject({
      scopes: ['users:write', 'users:read'],
    });
    expect(await shell.json('keys', 'expire', key_id, '--at', '2099-01-31T12:30Z')).toMatchObject({
      expires_at: '2099-01-31T12:30:00Z',
    });
    expect(await shell.json('keys', 'expire', key_id, '--at', 'never')).toMatchObject({ expires_at: null });
    const { secrets } = await shell.json('keys', 'rotate', key_id);
    expect(secrets).toMatchObject([{ expires_at: null }, { expires_at: expect.any(String) }]);
    expect(await shell.json('keys', 'revoke', key_id, '--yes')).toMatchObject({ status: 'revoked' });
  });
});

describe('usage', () => {
  const HOUR = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:00:00Z$/);
  const ONE = { hour: HOUR, requests: 1, refused_links: 0, failed_checks: 0, sms: 0, failed_verifies: 0 };

  it('shows of a key what GET /v1/key/usage returns, and of a seller the sums of its keys', async () => {
    const { seller_id, key_id } = await newKey();
    const issue = ['keys', 'issue', seller_id, '--plan', 'free', '--scopes', 'users:read'];
    const { key_id: second } = await shell.json(...issue);
    // One moment for all: a day or an hour may end meanwhile.
    const [limiter, now] = [limiterOn(shell.table), Date.now()];
    for (const keyId of [key_id, second]) await limiter.increment(minuteLimit({ keyId, plan: 'free' }), now);
    const paid = keyLimit('paid-checks-per-day', { keyId: second, plan: 'free', limits: {} });
    await limiter.increment(paid, now);
    expect(await shell.json('usage', key_id, '--days', '3')).toEqual({
      seller_id,
      key_id,
      data: [ONE],
      paid_checks: [],
    });
    expect(await shell.json('usage', seller_id)).toEqual({
      seller_id,
      data: [{ ...ONE, requests: 2 }],
      paid_checks: [{ day: new Date(now).toISOString().slice(0, 10), count: 1 }],
    });
    const { out, error } = await shell.cliOfWidth(80, 'usage', seller_id);
    expect(out.split('\n')[0]).toBe(
      'hour              requests  refused links  failed checks  sms  failed verifies',
    );
    expect(out).toMatch(/\n\nday {9}paid checks\n\S{10} {2}1\n$/);
    expect(error).toBe(`2 requests of ${seller_id} with 2 keys in 7 days (UTC).\n`);
  });

  it('shows the 20 keys with most requests in seven days, if none is named', async () => {
    const { seller_id: sellerId } = await createSeller(shell.admin, 'Kaveh Books');
    // At least two, as no key of another test has, but for one of 21.
    const counts = [2, 4, 1, 3, ...Array.from({ length: 17 }, () => 2)];
    const keys = [];
    for (const count of counts) {
      const request = { sellerId, name: 'key', plan: 'free', scopes: ['users:read'] } as const;
      const { key_id } = (await issueKey(shell.admin, request)).key;
      for (let each = 0; each < count; each += 1) await shell.countRequest(key_id);
      keys.push(key_id);
    }
    const shown = (await shell.json('usage')).keys;
    expect(shown.map(({ requests }: { requests: number }) => requests)).toEqual([
      ...[4, 3],
      ...Array.from({ length: 18 }, () => 2),
    ]);
    expect(shown[0]).toMatchObject({ key_id: keys[1], name: 'key', sms: 0, paid_checks: 0 });
    expect(shown.map(({ key_id }: { key_id: string }) => key_id)).not.toContain(keys[2]);
    const { out, error } = await shell.cliOfWidth(80, 'usage');
    expect(out.split('\n')[1]).toMatch(new RegExp(`^4 {9}${keys[1]} {2}key `));
    expect(error).toBe('The 20 keys with most requests in 7 days.\n');
  });
});

describe('keys limits', () => {
  it('shows every limit of a key in a stable shape', async () => {
    const { key_id } = await newKey();
    const { limits } = await shell.json('keys', 'limits', key_id);
    expect(limits[0]).toEqual({
      name: 'free',
      limit: 100,
      used: 0,
      remaining: 100,
      resets_in_seconds: expect.any(Number),
      overridden: false,
    });
  });

  it('shows the limits of a revoked key', async () => {
    const { key_id } = await newKey();
    await shell.json('keys', 'revoke', key_id, '--yes');
    expect((await shell.json('keys', 'limits', key_id)).limits).toHaveLength(KEY_LIMIT_NAMES.length + 1);
  });

  it('sets and unsets limits of one key', async () => {
    const { key_id } = await newKey();
    const set = await shell.json(
      ...['keys', 'limits', key_id, '--set', 'sms-per-hour=10000', '--set', 'paid-checks-per-day=0'],
    );
    expect(set.limits).toMatchObject([
      { name: 'free', limit: 100 },
      { name: 'sms-per-hour', limit: 10_000, overridden: true },
      { name: 'failed-checks-per-hour', overridden: false },
      { name: 'refused-links-per-hour', overridden: false },
      { name: 'paid-checks-per-day', limit: 0, remaining: 0, overridden: true },
      { name: 'failed-verifies-per-hour', overridden: false },
    ]);
    expect((await shell.cli('keys', 'limits', key_id)).out).toMatch(/^sms-per-hour {2,}10,000 .* yes$/m);
    const unset = await shell.json('keys', 'limits', key_id, '--unset', 'sms-per-hour');
    expect(unset.limits[1]).toMatchObject({ limit: 100, overridden: false });
  });
});

describe('info', () => {
  it('shows the stage, the release, the table and the numbers of the local service', async () => {
    const { sellers } = await shell.json('sellers', 'list');
    expect(await shell.json('info')).toEqual({
      stage: 'local',
      base_url: 'http://127.0.0.1:1',
      account: null,
      region: null,
      actor: expect.stringMatching(/^local:/),
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      commit: releaseOf().commit,
      table: shell.table.name,
      sellers: sellers.length,
      suspended_sellers: sellers.filter(({ status }: { status: string }) => status === 'suspended').length,
      keys: expect.any(Number),
      account_keys: null,
      account_key_quota: null,
      alarms: null,
      moved_aliases: null,
    });
    expect((await shell.cli('info')).out).toMatch(new RegExp(`^table {2,}${shell.table.name}$`, 'm'));
  });
});
