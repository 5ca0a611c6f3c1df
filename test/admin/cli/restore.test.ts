import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deleteAll, putAll } from '#admin/stores/batches.ts';
import { itemsIn } from '#test/admin/operations/restore/damage.ts';
import { linked, linkOf, registerBuyer } from '#test/shared/users/linking.ts';
import { userStore } from '#test/shared/users/user-store.ts';
import { startEmbeddedTable } from '#test/table/embedded-table.ts';
import { startTestShell, type TestShell } from './test-shell.ts';

let shell: TestShell;
let folder: string;
beforeEach(async () => {
  [shell, folder] = await Promise.all([startTestShell(), mkdtemp(join(tmpdir(), 'restore-'))]);
});
afterEach(() => Promise.all([shell.stop(), rm(folder, { recursive: true })]));

/** A seller with two users, of whom the table has lost one since the restore point, and the other was removed. */
const damaged = async () => {
  const { table } = shell.admin;
  const { seller_id } = await shell.json('sellers', 'create', 'Kaveh Books', '--yes');
  await registerBuyer(table);
  const users = userStore(table);
  const [lost, removed] = [
    await linked(users, linkOf(seller_id, 'Sara')),
    await linked(users, linkOf(seller_id, 'Reza')),
  ];
  const source = await startEmbeddedTable();
  await putAll(source, await itemsIn(table));
  await shell.json('users', 'remove', removed.id, '--seller', seller_id, '--yes');
  const isLost = ({ pk }: Record<string, unknown>) => /^(?:USERS|PERSON|LINKS)#/.test(String(pk));
  await deleteAll(table, (await itemsIn(table)).filter(isLost));
  return { from: source.name, seller_id, lost: lost.id, removed: removed.id };
};

const inFile = async (...lines: readonly string[]): Promise<string> => {
  const file = join(folder, randomUUID());
  await writeFile(file, lines.join('\n'));
  return file;
};

describe('restore copy', () => {
  it('shows in a dry run what it would do, then asks, puts back what was lost and lists why the rest stays away', async () => {
    const { from, seller_id, lost, removed } = await damaged();
    const expected = (result: 'missing' | 'copied', isDryRun: boolean) => ({
      ...{ from, to: shell.admin.table.name, dry_run: isDryRun },
      counts: { [result]: 1, removed: 1 },
      found: [
        { result, kind: 'user', id: lost, seller_id },
        { result: 'removed', kind: 'user', id: removed, seller_id },
      ],
    });
    expect(await shell.json('restore', 'copy', from, '--dry-run')).toEqual(expected('missing', true));
    expect(await shell.cli('restore', 'copy', from)).toMatchObject({
      exitCode: 1,
      error: expect.stringContaining(
        '--dry-run shows what that is. This terminal is not interactive. Add --yes.',
      ),
    });
    expect(await shell.json('restore', 'copy', from, '--yes')).toEqual(expected('copied', false));
    expect(await shell.json('users', 'show', lost)).toMatchObject({ data: [{ seller_id }] });
  });

  it('fits a terminal of 80 columns, with a sentence about each result', async () => {
    const { from, lost } = await damaged();
    const { out, error } = await shell.cliWithPerson(() => 'y', 'restore', 'copy', from);
    expect(out).toContain('copied   1      It is back.\n');
    expect(out).toMatch(new RegExp(`^copied +user +${lost} +sel_\\w{22}$`, 'm'));
    expect(`${out}${error}`.split('\n').filter((line) => line.length > 80)).toEqual([]);
    expect((await shell.cli('restore', 'copy', from, '--dry-run', '--seller', 'sel_1')).error).toContain(
      'has no seller sel_1.',
    );
  });

  it('takes the phones of a file as erased since', async () => {
    const { from, lost, seller_id } = await damaged();
    const phone = '+989121234567';
    const [hash = ''] = (await shell.hashes.phone(phone)).keys((each) => each);
    const source = { client: shell.admin.table.client, name: from };
    const items = await itemsIn(source);
    await putAll(
      source,
      items.filter(({ id }) => id === lost).map((item) => ({ ...item, phone_hash: hash })),
    );
    const file = await inFile('09121234567', '');
    const { found } = await shell.json('restore', 'copy', from, '--dry-run', '--erased', file);
    expect(found).toContainEqual({ result: 'erased', kind: 'user', id: lost, seller_id });
  });

  it('names a table that does not exist, a file that cannot be read, and the line of it that is no phone', async () => {
    const file = await inFile('09121234567', 'not a phone');
    const errorOf = async (...args: readonly string[]) =>
      (await shell.cli('restore', 'copy', 'none', '--yes', ...args)).error;
    expect(await errorOf()).toContain('There is no table none in this account and Region.');
    expect(await errorOf('--erased', file)).toContain(`Line 2 of ${file} is not an Iranian mobile number.`);
    expect(await errorOf('--erased', folder)).toContain(`${folder} cannot be read.`);
  });
});

describe('restore renumber', () => {
  it('asks, and raises the event numbers of each seller of the restored table', async () => {
    const { from } = await damaged();
    const asked: string[] = [];
    const answer = (question: string): string => {
      asked.push(question);
      return 'y';
    };
    const { out } = await shell.cliWithPerson(answer, 'restore', 'renumber', from);
    expect(asked).toEqual([
      `Raise the event numbers of 1 seller of ${from} by 1,000,000? Every reader of events reads all users again. [y/N] `,
    ]);
    expect(out).toBe('Raised the event numbers of 1 seller by 1,000,000.\n');
    expect(await shell.json('restore', 'renumber', from, '--yes')).toEqual({
      table: from,
      sellers: 1,
      raised_by: 1_000_000,
    });
  });

  it('says in its question that the table is in service', async () => {
    await damaged();
    const { error } = await shell.cli('restore', 'renumber', shell.admin.table.name);
    expect(error).toContain('by 1,000,000? This table is in service. Every reader');
  });
});
