import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { adminBuyerStore } from '#admin/stores/buyer-store.ts';
import { keyedHashesFrom } from '#shared/secrets/keyed-hashes.ts';
import { fileSecret } from '#shared/secrets/secret-source.ts';
import { startTestShell, type TestShell } from './test-shell.ts';

let shell: TestShell;
beforeAll(async () => {
  shell = await startTestShell();
});
afterAll(() => shell.stop());

let files = 0;
const fileWith = async (text: string): Promise<string> => {
  files += 1;
  const file = join(shell.folder, `phones-${files}.txt`);
  await writeFile(file, text);
  return file;
};

let people = 0;
/** Returns a phone that no other test uses. */
const newPhone = (): string => {
  people += 1;
  return `0912${String(people).padStart(7, '0')}`;
};

/** Imports a file and returns the counts that are not 0. They always add up to the lines. */
const counts = async (file: string) => {
  const startedAt = performance.now();
  const { file: _, rejected_file, seconds, lines, ...results } = await shell.json('buyers', 'import', file);
  expect(seconds).toBeLessThan((performance.now() - startedAt) / 1000 + 0.1);
  const entries = Object.entries(results as Record<string, number>);
  expect(entries.reduce((sum, [, count]) => sum + count, 0)).toBe(lines);
  return Object.fromEntries(entries.filter(([, count]) => count > 0));
};

describe('buyers import', () => {
  it('registers every phone under the hash that the service reads', async () => {
    const phones = [newPhone(), newPhone()];
    await shell.json('buyers', 'import', await fileWith(`${phones.join('\n')}\n`));
    const hashes = keyedHashesFrom(fileSecret(join(shell.folder, 'hash-secret.json')));
    for (const phone of phones) {
      expect(
        await adminBuyerStore(shell.table).find(await hashes.phone(`+98${phone.slice(1)}`)),
      ).toBeDefined();
    }
    expect(await shell.json('buyers', 'show', phones[0] as string)).toEqual({
      buyer_id: await hashes.buyerId(`+98${phones[0]?.slice(1)}`),
      registered_at: expect.any(String),
    });
  });

  it('reads the forms of phones that exports have, with a byte order mark and either line ending', async () => {
    const [a, b, c, d, e, f] = Array.from({ length: 6 }, () => newPhone().slice(1));
    const persian = f?.replace(/\d/g, (digit) => '۰۱۲۳۴۵۶۷۸۹'.charAt(Number(digit)));
    const file = await fileWith(`\ufeff0${a}\r\n+98${b}\r\n0098${c}\n98${d}\n (${e})\n۰${persian}`);
    expect(await counts(file)).toEqual({ added: 6 });
  });

  it('lists each rejected line by number and reason, without its text, and continues', async () => {
    const file = await fileWith(
      `phone\n${newPhone()}\n02188776655\n${'9'.repeat(70_000)}\n\n"${newPhone()}"\n${newPhone()}`,
    );
    const { exitCode, out, error } = await shell.cli('buyers', 'import', file);
    expect({ exitCode, error }).toEqual({
      exitCode: 0,
      error: expect.stringContaining(`${file}.rejected.csv`),
    });
    const shown = Object.fromEntries(out.split('\n').map((line) => line.split(/ {2,}/)));
    const counted = { lines: '7', added: '2', 'already registered': '0', rejected: '4', blank: '1' };
    expect(shown).toMatchObject(counted);
    const rejected = [1, 3, 4, 6].map((line) => `${line},not an Iranian mobile number\n`).join('');
    expect(await readFile(`${file}.rejected.csv`, 'utf8')).toBe(rejected);
  });

  it('imports nothing from an empty file', async () => {
    expect(await counts(await fileWith(''))).toEqual({});
  });

  it('refuses a file that it cannot read, and writes no audit record', async () => {
    const before = await shell.json('audit', 'deployment');
    expect(await shell.cli('buyers', 'import', '/nowhere.txt')).toMatchObject({
      exitCode: 1,
      error: expect.stringContaining('cannot be read'),
    });
    expect(await shell.json('audit', 'deployment')).toEqual(before);
  });
});
