import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KeyView } from '#admin/cli/views.ts';
import { deleteAll, putAll } from '#admin/stores/batches.ts';
import { itemsIn } from '#test/admin/operations/restore/damage.ts';
import { startEmbeddedTable } from '#test/table/embedded-table.ts';
import { startTestShell, type TestShell } from './test-shell.ts';

let shell: TestShell;
beforeEach(async () => {
  shell = await startTestShell();
});
afterEach(() => shell.stop());

const newKey = async () => {
  const { seller_id } = await shell.json('sellers', 'create', 'Kaveh Books');
  return shell.json('keys', 'issue', seller_id, '--plan', 'free', '--scopes', 'users:read');
};

describe('restore', () => {
  const restorePoint = async () => {
    const source = await startEmbeddedTable();
    await putAll(source, await itemsIn(shell.admin.table));
    return source.name;
  };

  it('brings back a key that was lost, after compare has shown it and changed nothing, and leaves nothing to reconcile', async () => {
    const { key_id } = await newKey();
    const from = await restorePoint();
    const lost = (await itemsIn(shell.admin.table)).filter(
      (item) => /^(?:KEYID|SECRET)#/.test(String(item.pk)) || item.sk === `KEY#${key_id}`,
    );
    await deleteAll(shell.admin.table, lost);
    const expected = { from, counts: { keys: 1 }, listed: [] };
    expect(await shell.json('restore', 'compare', '--from', from)).toMatchObject(expected);
    expect(await shell.cli('keys', 'show', key_id)).toMatchObject({ exitCode: 1 });
    expect(await shell.cli('restore', 'copy', '--from', from)).toMatchObject({
      exitCode: 1,
      error: expect.stringContaining('Add --yes'),
    });
    expect(await shell.json('restore', 'copy', '--from', from, '--yes')).toMatchObject(expected);
    expect(await shell.json('keys', 'show', key_id)).toMatchObject({ status: 'active' });
    expect(await shell.json('reconcile')).toMatchObject({ differences: [] });
    expect((await shell.cli('restore', 'compare', '--from', from)).out).toBe('Nothing is missing.\n');
  });

  it('leaves a key that changed since pending until keys confirm, lists it within 80 columns, and reconcile keeps it', async () => {
    const { key_id } = await newKey();
    const from = await restorePoint();
    await shell.json('keys', 'rotate', key_id, '--grace', '1h');
    const { secrets } = await shell.json('keys', 'scopes', key_id, '--set', 'users:write');
    await deleteAll(
      shell.admin.table,
      (await itemsIn(shell.admin.table)).filter(({ sk }) => sk === `KEY#${key_id}`),
    );
    const { out, error } = await shell.cli('restore', 'copy', '--from', from, '--yes');
    expect(out).toContain(`waits for \`keys confirm\``);
    expect(Math.max(...`${out}${error}`.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
    await shell.cli('reconcile', '--fix', '--yes');
    expect(await shell.json('keys', 'show', key_id)).toMatchObject({
      status: 'pending',
      scopes: ['users:write'],
      secrets: secrets.map(({ last_four, expires_at }: KeyView['secrets'][number]) => ({
        last_four,
        expires_at,
      })),
    });
    const [registered] = await Array.fromAsync(shell.usagePlans.listKeys(shell.admin.gatewayKeyName(key_id)));
    await shell.usagePlans.deleteKey(registered?.id ?? '');
    expect(await shell.json('keys', 'confirm', key_id)).toMatchObject({
      status: 'active',
      scopes: ['users:write'],
    });
    expect(await shell.json('reconcile')).toMatchObject({ differences: [] });
    expect(await shell.cli('keys', 'confirm', key_id)).toMatchObject({
      exitCode: 1,
      error: expect.stringContaining('does not wait'),
    });
  });

  it('names a table that does not exist, and the line of a file of phones that is none', async () => {
    await newKey();
    const file = join(tmpdir(), `erased-${randomUUID()}.txt`);
    await writeFile(file, '09121234567\nnot a phone\n');
    expect((await shell.cli('restore', 'compare', '--from', 'none')).error).toContain(
      'There is no table none',
    );
    expect((await shell.cli('restore', 'compare', '--from', 'none', '--erased', file)).error).toContain(
      'Line 2 of',
    );
    await rm(file);
  });
});

describe('keys find', () => {
  it('shows the key of a secret from stdin, and repeats no secret that it does not find', async () => {
    const { key_id, key } = await newKey();
    const found = await shell.cliWithInput(`${key}\n`, 'keys', 'find', '--json');
    expect(JSON.parse(found.out)).toMatchObject({ key_id });
    const unknown = await shell.cliWithInput('blk_test_unknown', 'keys', 'find');
    expect(unknown).toMatchObject({ exitCode: 1, error: expect.stringContaining('No key has this secret') });
    expect(unknown.error).not.toContain('blk_test_unknown');
  });
});

describe('hash-secret rotate', () => {
  it('is refused for the local service', async () => {
    expect(await shell.cli('hash-secret', 'rotate', '--yes')).toMatchObject({ exitCode: 2 });
  });
});
