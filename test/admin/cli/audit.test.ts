import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import stringWidth from 'string-width';
import { startTestShell, type TestShell } from './test-shell.ts';

let shell: TestShell;
beforeEach(async () => {
  shell = await startTestShell();
});
afterEach(() => shell.stop());

const SELLER = 'فروشگاه کتاب کاوه';

const assigned = async (name = SELLER) => {
  const { seller_id } = await shell.json('sellers', 'create', name);
  const issue = ['keys', 'issue', seller_id, '--plan', 'free', '--scopes', 'users:read'];
  const { key_id } = await shell.json(...issue);
  await shell.json('keys', 'assign', key_id, '--plan', 'professional');
  return { seller_id, key_id };
};

describe('audit without a subject', () => {
  it('lists the records of all sellers and of the deployment since yesterday, with the names of the sellers', async () => {
    const { seller_id, key_id } = await assigned();
    await shell.json('buyers', 'add', '09121234567');
    const { records } = await shell.json('audit');
    expect(records.map(({ action }: { action: string }) => action)).toEqual([
      ...['buyer.added', 'key.assigned', 'key.issued', 'seller.created'],
    ]);
    expect(records[1]).toMatchObject({ seller_id, key_id, details: { from: 'free', to: 'professional' } });
    const { out } = await shell.cliOfWidth(80, 'audit');
    expect(out.replace(/\s+/g, ' ')).toContain(`free → professional, seller: ${SELLER}, key: ${key_id}`);
    expect(Math.max(...out.split('\n').map((line) => stringWidth(line)))).toBeLessThanOrEqual(80);
  });

  it('searches the names of the sellers too', async () => {
    await assigned();
    await assigned('Other Shop');
    const { records } = await shell.json('audit', '--search', 'other shop');
    expect(records).toHaveLength(3);
  });

  it('lists nothing from before --since, of a seller neither, and says so', async () => {
    const { seller_id } = await assigned();
    for (const subject of [[], [seller_id]]) {
      const outcome = await shell.cli('audit', ...subject, '--since', '2099-01-01');
      expect(outcome).toEqual({ exitCode: 0, out: 'No records.\n', error: '' });
    }
    expect((await shell.json('audit', seller_id, '--since', '1h')).records).toHaveLength(3);
  });
});

it('the audit says where it ends, if there can be more records', async () => {
  const { seller_id } = await assigned();
  const { error } = await shell.cli('audit', seller_id, '--limit', '2');
  expect(error).toBe('The newest 2 records. --limit shows more.\n');
  expect((await shell.cli('audit', seller_id)).error).toBe('');
});

it('quotes a name that could look like several details', async () => {
  const forged = 'a, key: key_FAKE, seller: Kaveh → free.csv';
  const file = join(shell.folder, forged);
  await writeFile(file, '');
  await shell.json('buyers', 'import', file);
  const { seller_id } = await shell.json('sellers', 'create', 'x, key: key_FAKE');
  await shell.json('sellers', 'rename', seller_id, 'free → professional');
  const { out } = await shell.cli('audit');
  expect(out).toContain(`file: "${forged}"`);
  expect(out).toContain('"x, key: key_FAKE" → "free → professional", seller: "free → professional"');
});
