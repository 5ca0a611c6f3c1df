import { putAll } from '#admin/stores/batches.ts';
import { startEmbeddedTable } from '#test/table/embedded-table.ts';
import { itemsIn } from '#test/table/items-in.ts';
import { startTestShell, type TestShell } from './test-shell.ts';

let shell: TestShell;
beforeEach(async () => {
  shell = await startTestShell();
  await shell.json('sellers', 'create', 'Kaveh Books');
});
afterEach(() => shell.stop());

describe('restore renumber', () => {
  it('asks, and raises the event numbers of each seller of the restored table', async () => {
    const restored = await startEmbeddedTable();
    await putAll(restored, await itemsIn(shell.table));
    const asked: string[] = [];
    const answer = (question: string): string => {
      asked.push(question);
      return 'y';
    };
    const { out } = await shell.cliWithPerson(answer, 'restore', 'renumber', restored.name);
    expect(asked).toEqual([
      `Raise the event numbers of 1 seller of ${restored.name} by 1,000,000? Every reader of events reads all users again. [y/N] `,
    ]);
    expect(out).toBe('Raised the event numbers of 1 seller by 1,000,000.\n');
    expect(await shell.json('restore', 'renumber', restored.name, '--yes')).toEqual({
      table: restored.name,
      sellers: 1,
      raised_by: 1_000_000,
    });
    await restored.stop();
  });

  it('says in its question that the table is in service', async () => {
    const { error } = await shell.cli('restore', 'renumber', shell.table.name);
    expect(error).toContain('by 1,000,000? This table is in service. Every reader');
  });

  it('names a table that does not exist', async () => {
    const { error } = await shell.cli('restore', 'renumber', 'none', '--yes');
    expect(error).toContain('There is no table none in this account and Region.');
  });
});
