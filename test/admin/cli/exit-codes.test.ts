import { startTestShell, type TestShell } from './test-shell.ts';

let shell: TestShell;
beforeAll(async () => {
  shell = await startTestShell();
});
afterAll(() => shell.stop());

describe('the admin CLI', () => {
  it.each([
    [['--help'], 0],
    [['keys', 'issue', '--help'], 0],
    [[], 2],
    [['keys'], 2],
    [['help', 'keys'], 0],
    [['nonsense'], 2],
    [['sellers', 'create'], 2],
    [['sellers', 'create', 'a', 'b'], 2],
    [['keys', 'issue', 'sel_x', '--plan', 'gold', '--scopes', 'users:read'], 2],
    [['keys', 'issue', 'sel_x', '--plan', 'free', '--scopes', 'users:delete'], 2],
    [['keys', 'issue', 'sel_x', '--plan', 'free', '--scopes', 'users:read', '--expires', '2027-02-30'], 2],
    [['keys', 'rotate', 'key_x', '--grace', '31d'], 2],
    [['usage', 'key_x', '--days', '0'], 2],
    [['keys', 'limits', 'key_x', '--set', 'free=5'], 2],
    [['keys', 'limits', 'key_x', '--set', 'sms-per-hour'], 2],
    [['keys', 'limits', 'key_x', '--set', 'sms-per-hour=-1'], 2],
    [['keys', 'limits', 'key_x', '--unset', 'sms'], 2],
    [['buyers', 'show'], 2],
    [['users', 'remove', 'usr_x'], 2],
    [['users', 'list', 'sel_x', '--limit', '0'], 2],
    [['sellers', 'list', '--local', '--stage', 'prod'], 2],
    [['hash-secret', 'rotate', '--yes'], 2],
    [['sellers', 'show', 'sel_x'], 1],
    [['sellers', 'messages', 'sel_x', '--template', 'sms-ir=200001'], 1],
    [['keys', 'show', 'key_x'], 1],
    [['audit', 'sel_x'], 1],
    [['keys', 'limits', 'key_x'], 1],
    [['users', 'list', 'sel_x'], 1],
    [['buyers', 'unlock', '0912'], 1],
    [['sellers', 'create', '   '], 1],
  ] as [string[], number][])('runs %j with exit code %i', async (args, exitCode) => {
    const outcome = await shell.cli(...args);
    expect(outcome.exitCode).toBe(exitCode);
    expect(outcome.out + outcome.error).not.toMatch(/\n\s+at /);
  });

  it.each([
    ['keys', 'find', `blk_test_${'a'.repeat(38)}`],
    ['keys', 'fnd', `blk_live_${'a'.repeat(38)}`],
    ['buyers', 'shw', '09121234567'],
    ['buyers', 'show', '09121234567', '+98 912 123 4567'],
    ['usage', 'key_x', '--days', '0012345679'],
    ['usage', 'key_x', '--days=001-234567-9'],
    [`--blk_test_${'a'.repeat(38)}`],
    ['buyers', 'show', '0912', '345', '6789'],
    ['users', 'list', 'sel_x', '--limit', '5', '0912', '345', '6789'],
  ])('repeats no secret, phone or national id of a wrong command line: %j', async (...args) => {
    for (const json of [[], ['--json']]) {
      const { exitCode, out, error } = await shell.cli(...args, ...json);
      expect([exitCode, out]).toEqual([2, '']);
      expect(error).not.toMatch(/a{38}|[0-9]{5}|123 4567|234567|345|6789/);
    }
  });

  it('repeats no secret, phone or national id in any other error', async () => {
    const { seller_id } = await shell.json('sellers', 'create', 'Kaveh Books');
    const secret = `blk_test_${'a'.repeat(38)}`;
    for (const args of [
      ['users', 'remove', secret, '--seller', seller_id],
      ['users', 'remove', '+98 (912) 345-6789', '--seller', seller_id],
      ['users', 'list', '0012345679'],
      ['sellers', 'rename', '09123456789', '09123456790'],
      ['buyers', 'import', `/nowhere/${secret}.csv`],
      ['info', '--stage', secret],
      ['info', '--stage=09123456789'],
      ['sellers', 'create', secret],
    ])
      for (const json of [[], ['--json']]) {
        const { exitCode, out, error } = await shell.cli(...args, ...json);
        expect([exitCode, out]).toEqual([1, '']);
        expect(error).not.toMatch(/a{38}|[0-9]{3}-|00123|0912/);
      }
    const { error } = await shell.cli('users', 'remove', '09123456789', '--seller', seller_id);
    expect(error).toBe(`error: ${seller_id} has no user [redacted].\n`);
  });

  it('repeats another word of a wrong command line, with its control characters escaped', async () => {
    const { error } = await shell.cli('keys', 'find', '\u001b[31mred\u202e');
    expect(error).toContain(String.raw`but got 1: \u001b[31mred\u202e.`);
    const { error: json } = await shell.cli('keys', 'find', '\u009bx\u202e', '--json');
    expect(json).toContain(String.raw`\u009bx\u202e`);
    expect(JSON.parse(json).error.message).toContain('\u009bx\u202e');
  });

  it('reports that the local service is not running, and in which folder', async () => {
    const outcome = await shell.cli('sellers', 'list', '--data', '/nowhere');
    expect(outcome).toMatchObject({
      exitCode: 2,
      error:
        'error: The local service is not running in /nowhere. Start it with npm start -- --data /nowhere, or name a stage: --stage prod.\n',
    });
    expect(await shell.cli('sellers', 'list', '--local', '--data', '/nowhere')).toMatchObject({
      exitCode: 1,
      error:
        'error: The local service is not running in /nowhere. Start it with npm start -- --data /nowhere.\n',
    });
  });
});
