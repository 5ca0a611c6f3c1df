import { DeleteTableCommand } from '@aws-sdk/client-dynamodb';
import { ensureTable } from '#local/table.ts';
import { itemsIn, putAll } from '#test/admin/operations/restored-table.ts';
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

/** Keeps the table of the shell as `old`, and gives its name to a table restored at the moment of `snapshot`. */
const restore = async (snapshot: Awaited<ReturnType<typeof itemsIn>>) => {
  const { table } = shell.admin;
  const old = { client: table.client, name: 'old' };
  await ensureTable(old);
  await putAll(old, await itemsIn(table));
  await table.client.send(new DeleteTableCommand({ TableName: table.name }));
  await ensureTable(table);
  await putAll(table, snapshot);
};

describe('restore', () => {
  it('replay keeps a key revoked, prints what it did, and lets reconcile run again', async () => {
    const { key_id } = await newKey();
    const snapshot = await itemsIn(shell.admin.table);
    await shell.json('keys', 'revoke', key_id, '--yes');
    await restore(snapshot);
    expect(await shell.cli('reconcile', '--fix', '--yes')).toMatchObject({
      exitCode: 1,
      error: expect.stringContaining('Run restore replay first'),
    });
    expect(await shell.json('restore', 'replay', '--from', 'old', '--yes')).toMatchObject({
      from: 'old',
      removed_users: 0,
      copied: { keys: 1, 'key secrets': 1 },
    });
    expect(await shell.json('keys', 'show', key_id)).toMatchObject({ status: 'revoked' });
    expect(await shell.json('reconcile')).toMatchObject({ differences: [] });
    const again = await shell.cli('restore', 'replay', '--from', 'old', '--yes');
    expect(again).toMatchObject({ exitCode: 1, error: expect.stringContaining('Nothing was changed') });
  });

  it('replay asks first, and names a table that does not exist', async () => {
    await newKey();
    await restore(await itemsIn(shell.admin.table));
    expect(await shell.cli('restore', 'replay', '--from', 'old')).toMatchObject({
      exitCode: 1,
      error: expect.stringContaining('Stop all traffic first'),
    });
    expect(await shell.cli('restore', 'replay', '--from', 'none', '--yes')).toMatchObject({
      exitCode: 1,
      error: expect.stringContaining('There is no table none'),
    });
  });

  it('accept lets reconcile run on the table as it was restored', async () => {
    const { key_id } = await newKey();
    await restore(await itemsIn(shell.admin.table));
    expect(await shell.json('restore', 'accept', '--yes')).toEqual({ accepted: shell.admin.table.name });
    expect(await shell.json('reconcile')).toMatchObject({ differences: [] });
    expect(await shell.json('keys', 'show', key_id)).toMatchObject({ status: 'active' });
  });

  it('revoke revokes the keys that changed since a time, and no other', async () => {
    const [revoked, other] = [await newKey(), await newKey()];
    const snapshot = await itemsIn(shell.admin.table);
    await shell.json('keys', 'revoke', revoked.key_id, '--yes');
    await restore(snapshot);
    const since = new Date(Date.now() + 3_600_000).toISOString().slice(0, 16);
    expect(await shell.json('restore', 'revoke', '--since', `${since}Z`, '--yes')).toMatchObject({
      revoked: [{ key_id: revoked.key_id }],
      deleted: 0,
    });
    expect(await shell.json('keys', 'show', other.key_id)).toMatchObject({ status: 'active' });
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
