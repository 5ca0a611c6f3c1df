import { type CliBench, startCliBench } from './cli-bench.ts';

let bench: CliBench;
beforeAll(async () => {
  bench = await startCliBench();
});
afterAll(() => bench.stop());

const SECRET = /blk_test_[0-9A-Za-z]{38}/;

const newKey = async (...options: string[]) => {
  const { seller_id } = await bench.json('sellers', 'create', 'Kaveh Books');
  return bench.json('keys', 'issue', seller_id, '--plan', 'free', '--scopes', 'users:read', ...options);
};

describe('sellers', () => {
  it('are created, listed oldest first and shown, in a stable shape', async () => {
    const first = await bench.json('sellers', 'create', '  Kaveh Books  ');
    const second = await bench.json('sellers', 'create', 'کتاب کاوه');
    expect(first).toEqual({
      seller_id: expect.stringMatching(/^sel_[0-9A-Za-z]{22}$/),
      name: 'Kaveh Books',
      status: 'active',
      users: 0,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    });
    expect((await bench.json('sellers', 'list')).sellers.slice(-2)).toEqual([first, second]);
    expect(await bench.json('sellers', 'show', second.seller_id)).toEqual({ ...second, keys: [] });
  });

  it('are suspended only if a person says so, or --yes', async () => {
    const { seller_id } = await bench.json('sellers', 'create', 'Kaveh Books');
    const refused = await bench.cli('sellers', 'suspend', seller_id);
    expect(refused).toMatchObject({ exitCode: 1, out: '' });
    expect(refused.error).toContain('add --yes');
    expect(await bench.cliBefore(() => 'n', 'sellers', 'suspend', seller_id)).toMatchObject({
      exitCode: 1,
      error: 'error: Nothing was done.\n',
    });
    expect((await bench.json('sellers', 'show', seller_id)).status).toBe('active');
    expect((await bench.cliBefore(() => 'y', 'sellers', 'suspend', seller_id)).exitCode).toBe(0);
    expect((await bench.json('sellers', 'show', seller_id)).status).toBe('suspended');
    expect((await bench.json('sellers', 'resume', seller_id)).status).toBe('active');
    expect((await bench.json('sellers', 'suspend', seller_id, '--yes')).status).toBe('suspended');
  });

  it('get no key while they are suspended', async () => {
    const { seller_id } = await bench.json('sellers', 'create', 'Kaveh Books');
    await bench.json('sellers', 'suspend', seller_id, '--yes');
    const outcome = await bench.cli(
      'keys',
      'issue',
      seller_id,
      '--plan',
      'free',
      '--scopes',
      'users:read',
      '--json',
    );
    expect(outcome).toMatchObject({ exitCode: 1, out: '' });
    expect(JSON.parse(outcome.error)).toEqual({
      error: { code: 'seller_suspended', message: expect.stringContaining('resume it') },
    });
  });
});

describe('keys', () => {
  it('show their secret when they are issued or rotated, and never again', async () => {
    const issued = await newKey('--name', 'server', '--expires', '90d');
    expect(issued.key).toMatch(SECRET);
    const rotated = await bench.json('keys', 'rotate', issued.key_id, '--grace', '24h');
    expect(rotated.key).toMatch(SECRET);
    expect(rotated.key).not.toBe(issued.key);
    const others = await Promise.all([
      bench.cli('keys', 'show', issued.key_id),
      bench.cli('keys', 'show', issued.key_id, '--json'),
      bench.cli('keys', 'list', issued.seller_id),
      bench.cli('keys', 'list', issued.seller_id, '--json'),
      bench.cli('sellers', 'show', issued.seller_id, '--json'),
      bench.cli('audit', issued.key_id, '--json'),
      bench.cli('usage', issued.key_id, '--json'),
    ]);
    expect(others.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0, 0, 0, 0]);
    expect(JSON.stringify(others)).not.toMatch(SECRET);
  });

  it('are listed with what a person may see, in a stable shape', async () => {
    const { key, ...issued } = await newKey('--name', 'server', '--expires', '2099-01-31');
    expect(await bench.json('keys', 'list', issued.seller_id)).toEqual({ keys: [issued] });
    expect(issued).toEqual({
      key_id: expect.stringMatching(/^key_/),
      seller_id: expect.stringMatching(/^sel_/),
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
          expires_at: '2099-01-31T00:00:00Z',
        },
      ],
    });
  });

  it('are assigned, given scopes and an end, rotated and revoked', async () => {
    const { key_id } = await newKey();
    expect(await bench.json('keys', 'assign', key_id, '--plan', 'professional')).toMatchObject({
      plan: 'professional',
    });
    expect(await bench.json('keys', 'scopes', key_id, '--set', 'users:write,users:read')).toMatchObject({
      scopes: ['users:write', 'users:read'],
    });
    expect(await bench.json('keys', 'expire', key_id, '--at', '2099-01-31T12:30Z')).toMatchObject({
      expires_at: '2099-01-31T12:30:00Z',
    });
    expect(await bench.json('keys', 'expire', key_id, '--at', 'never')).toMatchObject({ expires_at: null });
    const { secrets } = await bench.json('keys', 'rotate', key_id);
    expect(secrets).toMatchObject([{ expires_at: null }, { expires_at: expect.any(String) }]);
    expect(await bench.json('keys', 'revoke', key_id, '--yes')).toMatchObject({ status: 'revoked' });
    expect((await bench.cli('keys', 'rotate', key_id)).error).toBe(`error: ${key_id} is revoked.\n`);
    const { records } = await bench.json('audit', key_id);
    expect(records.map(({ action }: { action: string }) => action)).toEqual([
      'key.revoked',
      'key.rotated',
      'key.expiry_set',
      'key.expiry_set',
      'key.scopes_set',
      'key.assigned',
      'key.issued',
    ]);
  });

  it('are not rotated without a grace, nor revoked, unless somebody says so', async () => {
    const { key_id } = await newKey();
    expect((await bench.cli('keys', 'rotate', key_id, '--grace', '0')).exitCode).toBe(1);
    expect((await bench.cli('keys', 'revoke', key_id)).exitCode).toBe(1);
    expect(await bench.json('keys', 'show', key_id)).toMatchObject({ status: 'active', secrets: [{}] });
  });

  it('tell their use by day and in the running minute', async () => {
    const { key_id, seller_id } = await newKey();
    const [key] = await bench.admin.keys.listOf(seller_id);
    bench.plane.recordUse(key?.usage_id ?? '');
    bench.plane.recordUse(key?.usage_id ?? '');
    const usage = await bench.json('usage', key_id, '--days', '3');
    expect(usage).toMatchObject({ key_id, plan: 'free', current_minute: { requests: 0, limit: 100 } });
    expect(usage.days.map(({ requests }: { requests: number }) => requests)).toEqual([0, 0, 2]);
    expect((await bench.cli('usage', key_id)).out).toMatch(/ {2}2 {2}█{40}\n/);
  });
});

describe('reconcile', () => {
  it('finds nothing after commands that ran to their end, and ends with 1 when it finds something', async () => {
    const { key_id, seller_id } = await newKey();
    expect(await bench.json('reconcile')).toMatchObject({ differences: [] });
    const [key] = await bench.admin.keys.listOf(seller_id);
    await bench.usagePlans.setEnabled(key?.gateway_key_id ?? '', false);
    const found = await bench.cli('reconcile', '--json');
    expect(found.exitCode).toBe(1);
    expect(JSON.parse(found.out).differences).toEqual([
      {
        kind: 'disabled_but_active',
        detail: expect.any(String),
        seller_id,
        key_id,
        gateway_key_id: key?.gateway_key_id,
        mended: false,
      },
    ]);
    expect((await bench.cli('reconcile')).out).toContain('1 differing, 0 mended');
    expect((await bench.json('reconcile', '--fix')).differences).toMatchObject([{ mended: true }]);
    expect(await bench.json('reconcile')).toMatchObject({ differences: [] });
  });
});

describe('reconcile --fix', () => {
  it('deletes keys that the table does not know only if somebody says so', async () => {
    const stray = { name: 'buyer-linking-local-key_stray', value: 's'.repeat(40), enabled: true };
    const { id } = await bench.usagePlans.createKey(stray);
    const refused = await bench.cli('reconcile', '--fix');
    expect(refused).toMatchObject({ exitCode: 1, error: expect.stringContaining('Delete 1 keys') });
    expect(JSON.parse((await bench.cli('reconcile', '--json')).out).differences).toMatchObject([
      { gateway_key_id: id },
    ]);
    expect((await bench.json('reconcile', '--fix', '--yes')).differences).toMatchObject([{ mended: true }]);
    expect(await bench.json('reconcile')).toMatchObject({ differences: [] });
  });
});

describe('exit codes and errors', () => {
  it.each([
    [['--help'], 0],
    [['keys', 'issue', '--help'], 0],
    [[], 2],
    [['keys'], 2],
    [['nonsense'], 2],
    [['sellers', 'create'], 2],
    [['sellers', 'create', 'a', 'b'], 2],
    [['keys', 'issue', 'sel_x', '--plan', 'gold', '--scopes', 'users:read'], 2],
    [['keys', 'issue', 'sel_x', '--plan', 'free', '--scopes', 'users:delete'], 2],
    [['keys', 'issue', 'sel_x', '--plan', 'free', '--scopes', 'users:read', '--expires', '2027-02-30'], 2],
    [['keys', 'rotate', 'key_x', '--grace', '31d'], 2],
    [['usage', 'key_x', '--days', '0'], 2],
    [['sellers', 'list', '--local', '--stage', 'prod'], 2],
    [['sellers', 'show', 'sel_x'], 1],
    [['keys', 'show', 'key_x'], 1],
    [['audit', 'sel_x'], 1],
    [['sellers', 'create', '   '], 1],
  ] as [string[], number][])('%j ends with %i', async (args, exitCode) => {
    const outcome = await bench.cli(...args);
    expect(outcome.exitCode).toBe(exitCode);
    expect(outcome.out + outcome.error).not.toMatch(/\n\s+at /);
  });

  it('names the local service as what is missing when it does not run', async () => {
    const outcome = await bench.cli('sellers', 'list', '--data', '/nowhere');
    expect(outcome).toMatchObject({ exitCode: 2, error: expect.stringContaining('npm start') });
    expect(await bench.cli('sellers', 'list', '--local', '--data', '/nowhere')).toMatchObject({
      exitCode: 1,
    });
  });
});
