import { createSeller } from '#admin/operations/sellers.ts';
import { startTestShell, type TestShell } from './test-shell.ts';

/** Commands that name sellers and keys as people do. */
let shell: TestShell;
beforeAll(async () => {
  shell = await startTestShell();
});
afterAll(() => shell.stop());

const run: TestShell['cli'] = (...args) => shell.cli(...args);
const json: TestShell['json'] = (...args) => shell.json(...args);

const newKey = (seller: string) =>
  shell.json('keys', 'issue', seller, '--plan', 'free', '--scopes', 'users:read');

describe('a seller', () => {
  it('is found by its name in any case and Unicode form, and by a part of the name with --search', async () => {
    const seller = await shell.json('sellers', 'create', 'Zo\u00eb Shoes');
    const [shown, { sellers }, unknown] = await Promise.all([
      json('sellers', 'show', 'zoe\u0308 shoes'),
      json('sellers', 'list', '--search', 'ZOE\u0308 SH'),
      run('sellers', 'show', 'Zo\u00eb'),
    ]);
    expect(shown).toEqual({ ...seller, keys: [], templates: [] });
    expect(sellers).toEqual([seller]);
    expect(unknown).toMatchObject({ exitCode: 1, error: expect.stringContaining('sellers list --search') });
  });

  it('whose name another has is found by its id only, and one may be renamed to its own name', async () => {
    expect(await run('sellers', 'create', 'Twin Shop')).toMatchObject({ exitCode: 0, error: '' });
    const first = await json('sellers', 'show', 'Twin Shop');
    expect(await run('sellers', 'rename', 'Twin Shop', 'twin shop')).toMatchObject({ exitCode: 0 });
    expect(await run('sellers', 'create', 'twin shop', '--yes')).toMatchObject({ exitCode: 0, error: '' });
    const suspended = await run('sellers', 'suspend', 'Twin Shop', '--yes', '--json');
    expect(suspended).toMatchObject({ exitCode: 1, out: '' });
    const { code, message } = JSON.parse(suspended.error).error;
    expect(code).toBe('ambiguous');
    expect(message).toContain(`${first.seller_id}  twin shop\n`);
  });

  it('whose name is mistyped is suggested with its id, and one of another name is not', async () => {
    const { seller_id } = await createSeller(shell.admin, 'Laleh Books');
    expect((await run('sellers', 'show', 'laleh bokks')).error).toBe(
      `error: There is no seller laleh bokks. Did you mean Laleh Books (${seller_id})?\n`,
    );
    expect((await run('keys', 'issue', 'Mina Toys', '--plan', 'free', '--scopes', 'users:read')).error).toBe(
      'error: There is no seller Mina Toys. sellers list --search finds a part of a name.\n',
    );
  });

  it('that is named by a key id is refused with the id of the seller', async () => {
    const { seller_id } = await createSeller(shell.admin, 'Named by Key');
    const { key_id } = await newKey(seller_id);
    expect((await run('keys', 'list', key_id)).error).toBe(
      `error: ${key_id} is a key. Its seller is ${seller_id}.\n`,
    );
  });
});

describe('a key', () => {
  it('is found by the last four characters of any of its secrets, as tables show them', async () => {
    const { seller_id } = await createSeller(shell.admin, 'By Ending');
    const { key_id, last_four } = await newKey(seller_id);
    const rotated = await shell.json('keys', 'rotate', key_id);
    const shown = await Promise.all(
      [last_four, rotated.last_four, `…${last_four}`, `blk_test_…${last_four}`].map((text) =>
        json('keys', 'show', text),
      ),
    );
    expect(shown.map((key) => key.key_id)).toEqual([key_id, key_id, key_id, key_id]);
    expect(await run('keys', 'show', '0000')).toMatchObject({
      exitCode: 1,
      error: expect.stringContaining('ends in 0000'),
    });
  });

  it('whose ending another key has is refused with the list of both', async () => {
    const { seller_id } = await createSeller(shell.admin, 'Same Ending');
    const [first, second] = [await newKey(seller_id), await newKey(seller_id)];
    const stored = await shell.admin.keys.find(second.key_id);
    await shell.admin.keys.save({
      before: stored as never,
      after: {
        ...stored,
        secrets: stored?.secrets.map((secret) => ({ ...secret, last_four: first.last_four })),
      } as never,
      sellerStatus: 'active',
      record: shell.admin.record({ action: 'test' }),
    });
    const { exitCode, error } = await run('keys', 'show', first.last_four);
    expect(exitCode).toBe(1);
    expect(error).toContain('Several keys have this name or ending. Use an id:\n');
    expect(error).toContain(first.key_id);
    expect(error).toContain(second.key_id);
  });

  it('is found by a name that a revoked key had, and a revoked key by its id only', async () => {
    const { seller_id } = await createSeller(shell.admin, 'Reused Name');
    const issue = ['keys', 'issue', seller_id, '--plan', 'free', '--scopes', 'users:read', '--name', 'till'];
    const revoked = await json(...issue);
    await json('keys', 'revoke', 'till', '--yes');
    const alone = await run('keys', 'show', 'till');
    expect(alone).toMatchObject({ exitCode: 1 });
    const hint = `Only revoked keys have this name. Use an id:\n  ${revoked.key_id}  `;
    expect(alone.error).toContain(hint);
    // Also where a subject may be a seller or a key.
    expect((await run('usage', 'till')).error).toContain(hint);
    const second = await json(...issue);
    expect(await json('keys', 'show', 'till')).toMatchObject({ key_id: second.key_id });
    expect(await json('keys', 'show', revoked.last_four)).toMatchObject({ status: 'revoked' });
  });

  it('is shown for a secret from stdin, and a secret that no key has is not repeated', async () => {
    const { seller_id } = await createSeller(shell.admin, 'Found by secret');
    const { key_id, key } = await newKey(seller_id);
    const found = await shell.cliWithInput(`${key}\n`, 'keys', 'find', '--json');
    expect(JSON.parse(found.out)).toMatchObject({ key_id });
    const unknown = await shell.cliWithInput('blk_test_unknown', 'keys', 'find');
    expect(unknown).toMatchObject({ exitCode: 1, error: expect.stringContaining('No key has this secret') });
    expect(unknown.error).not.toContain('blk_test_unknown');
  });

  it('that is named by a seller id is refused with the keys of the seller', async () => {
    const { seller_id } = await createSeller(shell.admin, 'Hint');
    const { key_id } = await newKey(seller_id);
    const { exitCode, error } = await run('keys', 'show', seller_id);
    expect(exitCode).toBe(1);
    expect(error).toContain(`${seller_id} is a seller, not a key. Name one of its keys:\n  ${key_id}`);
  });

  it('that is named by its whole secret is refused, without the secret in the error', async () => {
    const { seller_id } = await createSeller(shell.admin, 'Pasted');
    const { key } = await newKey(seller_id);
    for (const command of [
      ['keys', 'revoke', key],
      ['sellers', 'show', key],
    ]) {
      const ended = await run(...command, '--yes');
      expect(ended.exitCode).not.toBe(0);
      expect(ended.out + ended.error).not.toContain(key);
    }
  });
});

it('the audit of neither a seller nor a key has the hints for both, and that of a deleted seller is shown by its id', async () => {
  const { error } = await run('audit', 'nothing');
  expect(error).toContain(
    'There is no seller nothing. sellers list --search finds a part of a name. No key has',
  );
  expect((await run('audit', 'sel_nothing')).error).toBe('error: There is no seller sel_nothing.\n');
  const { seller_id } = await createSeller(shell.admin, 'Deleted Shop');
  const { key_id } = await newKey(seller_id);
  // Nobody is asked about what is refused anyway.
  expect((await run('sellers', 'delete', seller_id)).error).toContain('keys that are not revoked: 1.');
  await json('keys', 'revoke', key_id, '--yes');
  const deleted = await run('sellers', 'delete', seller_id, '--yes');
  expect(deleted.error).toBe(`Its audit stays: audit ${seller_id}\n`);
  const { records } = await json('audit', seller_id, '--search', 'seller.deleted');
  expect(records).toMatchObject([{ action: 'seller.deleted', details: { name: 'Deleted Shop' } }]);
});

it.each([`blk_live_${'a'.repeat(38)}`, 'Kaveh +98 (912) 345-6789', '۰۹۹۹۰۰۰۱۲۳۴'])(
  'a name with a secret or a phone is refused, and the audit has no record of it: %s',
  async (name) => {
    const { seller_id } = await createSeller(shell.admin, 'Named');
    const { key_id } = await newKey(seller_id);
    const issue = ['keys', 'issue', seller_id, '--plan', 'free', '--scopes', 'users:read', '--name', name];
    const before = await json('audit');
    for (const args of [
      ['sellers', 'create', name],
      ['sellers', 'rename', seller_id, name],
      ['keys', 'rename', key_id, name],
      issue,
    ])
      expect(await run(...args)).toMatchObject({
        exitCode: 1,
        error: expect.stringContaining('A name must not contain a secret or a phone'),
      });
    expect(await json('audit')).toEqual(before);
  },
);

it('a name with a date or another number is a name', async () => {
  expect(await json('sellers', 'create', 'Branch 1234567 of 2026-11-27', '--yes')).toMatchObject({
    name: 'Branch 1234567 of 2026-11-27',
  });
});
