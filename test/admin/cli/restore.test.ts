import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { STATES } from '#admin/operations/restore/report.ts';
import { deleteAll, putAll } from '#admin/stores/batches.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { itemsIn } from '#test/admin/operations/restore/damage.ts';
import { startEmbeddedTable } from '#test/table/embedded-table.ts';
import { startTestShell, type TestShell } from './test-shell.ts';

let shell: TestShell;
let folder: string;
beforeEach(async () => {
  [shell, folder] = await Promise.all([startTestShell(), mkdtemp(join(tmpdir(), 'restore-'))]);
});
afterEach(() => Promise.all([shell.stop(), rm(folder, { recursive: true })]));

const newKey = async () => {
  const { seller_id } = await shell.json('sellers', 'create', 'Kaveh Books');
  return shell.json('keys', 'issue', seller_id, '--plan', 'free', '--scopes', 'users:read');
};

const restorePoint = async () => {
  const source = await startEmbeddedTable();
  await putAll(source, await itemsIn(shell.admin.table));
  return source.name;
};

/** Deletes keys, and what finds them. */
const lose = async (...keyIds: readonly string[]): Promise<void> => {
  const isLost = ({ pk, sk, key_id }: StoredItem) =>
    keyIds.some((id) => sk === `KEY#${id}` || pk === `KEYID#${id}` || key_id === id);
  await deleteAll(shell.admin.table, (await itemsIn(shell.admin.table)).filter(isLost));
};

const inFile = async (...lines: readonly string[]): Promise<string> => {
  const file = join(folder, randomUUID());
  await writeFile(file, lines.join('\n'));
  return file;
};

describe('restore', () => {
  it('brings back a key that was lost as pending, after compare has shown it and changed nothing, and leaves nothing to reconcile', async () => {
    const { key_id, seller_id } = await newKey();
    const from = await restorePoint();
    await lose(key_id);
    const expected = (state: string, detail: string) => ({
      from,
      to: shell.admin.table.name,
      counts: [{ seller_id, kind: 'key', state, count: 1 }],
      listed: [{ state, detail, count: 1, items: [{ kind: 'key', id: key_id, seller_id }] }],
    });
    expect(await shell.json('restore', 'compare', from)).toEqual(
      expected('missing', '`restore copy` puts it back.'),
    );
    expect(await shell.cli('keys', 'show', key_id)).toMatchObject({ exitCode: 1 });
    expect(await shell.cli('restore', 'copy', from)).toMatchObject({
      exitCode: 1,
      error: expect.stringContaining('Add --yes'),
    });
    expect(await shell.json('restore', 'copy', from, '--yes')).toEqual(
      expected('pending', 'The key is back and waits: `keys confirm` or `keys revoke`.'),
    );
    expect(await shell.json('keys', 'show', key_id)).toMatchObject({ status: 'pending' });
    expect(await shell.json('reconcile')).toMatchObject({ differences: [] });
    await shell.json('keys', 'confirm', key_id);
    expect((await shell.cli('restore', 'compare', from)).out).toBe('Nothing is missing.\n');
  });

  it('writes the id of everything that it finds to a file, and shows twenty of each state within 80 columns', async () => {
    const keys: string[] = [];
    for (let count = 0; count < 21; count += 1) keys.push((await newKey()).key_id);
    const from = await restorePoint();
    await lose(...keys);
    const file = join(folder, 'ids.csv');
    const { listed } = await shell.json('restore', 'compare', from, '--list', file);
    expect(listed).toMatchObject([{ state: 'missing', count: 21, items: { length: 20 } }]);
    const lines = (await readFile(file, 'utf8')).trim().split('\n');
    expect(lines[0]).toBe('seller_id,kind,id,state');
    const found = lines.slice(1).map((line) => line.replace(/^sel_\w{22},/, ''));
    expect(found.sort()).toEqual(keys.map((id) => `key,${id},missing`).sort());
    const { out, error } = await shell.cliWithPerson(() => 'y', 'restore', 'copy', from);
    expect(out).toContain('21, of which these are the first');
    const shown = [...`${out}${error}`.split('\n'), ...Object.values(STATES)];
    expect(Math.max(...shown.map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  it('takes one seller and the phones that were erased since, in a compare too', async () => {
    const [{ seller_id, key_id }, other] = [await newKey(), await newKey()];
    const from = await restorePoint();
    await lose(key_id, other.key_id);
    const file = await inFile('09121234567', '');
    const options = ['--seller', seller_id, '--erased', file];
    const missing = [{ seller_id, kind: 'key', state: 'missing', count: 1 }];
    expect(await shell.json('restore', 'compare', from, ...options)).toMatchObject({ counts: missing });
  });

  it('names a table that does not exist, the line of a file of phones that is none, and a list that cannot be written', async () => {
    await newKey();
    const file = await inFile('09121234567', 'not a phone');
    const errorOf = async (...args: readonly string[]) => (await shell.cli('restore', ...args)).error;
    expect(await errorOf('compare', 'none')).toContain('There is no table none');
    expect(await errorOf('copy', 'none', '--erased', file)).toContain('Line 2 of');
    expect(await errorOf('compare', 'none', '--list', folder)).toContain('cannot be written');
  });
});

describe('keys confirm', () => {
  it('makes a restored key valid again, with its key in API Gateway, and refuses a key that does not wait', async () => {
    const { key_id } = await newKey();
    await shell.json('keys', 'rotate', key_id, '--grace', '1h');
    const from = await restorePoint();
    const { secrets } = await shell.json('keys', 'show', key_id);
    await lose(key_id);
    await shell.json('restore', 'copy', from, '--yes');
    await shell.cli('reconcile', '--fix', '--yes');
    expect(await shell.json('keys', 'show', key_id)).toMatchObject({ status: 'pending', secrets });
    const [registered] = await Array.fromAsync(shell.usagePlans.listKeys(shell.admin.gatewayKeyName(key_id)));
    await shell.usagePlans.deleteKey(registered?.id ?? '');
    expect(await shell.json('keys', 'confirm', key_id)).toMatchObject({
      keys: [{ key_id, status: 'active' }],
    });
    expect(await shell.json('reconcile')).toMatchObject({ differences: [] });
    expect(await shell.cli('keys', 'confirm', key_id)).toMatchObject({
      exitCode: 1,
      error: expect.stringContaining('does not wait'),
    });
  });

  it('makes several keys valid, or all that wait but those of a file, after a question', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) ids.push((await newKey()).key_id);
    const from = await restorePoint();
    await lose(...ids.slice(1));
    await shell.json('restore', 'copy', from, '--yes');
    const statuses = async () =>
      Promise.all(ids.map(async (id) => (await shell.json('keys', 'show', id)).status));
    const [, first = '', second = '', third = ''] = ids;
    await shell.json('keys', 'confirm', first, second);
    expect(await statuses()).toEqual(['active', 'active', 'active', 'pending', 'pending']);
    const file = await inFile(third, 'key_issuedAndRevokedSince', '');
    expect(await shell.cli('keys', 'confirm', '--all-except', file)).toMatchObject({
      exitCode: 1,
      error: expect.stringContaining('Make 1 key valid and leave 1 key pending?'),
    });
    await shell.json('keys', 'confirm', '--all-except', file, '--yes');
    expect(await statuses()).toEqual(['active', 'active', 'active', 'pending', 'active']);
  });

  it('refuses a file with a line that is no key id, and a command line with no keys or with both', async () => {
    const { key_id } = await newKey();
    const file = await inFile('key_1', 'key-2');
    expect((await shell.cli('keys', 'confirm', '--all-except', file, '--yes')).error).toContain('Line 2 of');
    expect(await shell.cli('keys', 'confirm')).toMatchObject({ exitCode: 2 });
    expect(await shell.cli('keys', 'confirm', key_id, '--all-except', file)).toMatchObject({ exitCode: 2 });
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
