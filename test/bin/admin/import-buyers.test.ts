import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { adminBuyerStore } from '#admin/stores/buyer-store.ts';
import { fileSecret } from '#shared/secrets/file.ts';
import { keyedHashesFrom } from '#shared/secrets/keyed-hashes.ts';
import { startTestShell, type TestShell } from './test-shell.ts';

let shell: TestShell;
beforeAll(async () => {
  shell = await startTestShell();
});
afterAll(() => shell.stop());

let files = 0;
const fileWith = async (text: string | Buffer, extension = 'csv'): Promise<string> => {
  files += 1;
  const file = join(shell.folder, `buyers-${files}.${extension}`);
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
const counts = async (file: string, ...options: string[]) => {
  const {
    file: _,
    rejected_file,
    seconds,
    lines,
    ...results
  } = await shell.json(...['buyers', 'import', file, ...options]);
  const entries = Object.entries(results as Record<string, number>);
  expect(entries.reduce((sum, [, count]) => sum + count, 0)).toBe(lines);
  return Object.fromEntries(entries.filter(([, count]) => count > 0));
};

describe('buyers import', () => {
  it('registers every phone under the hash that the service reads', async () => {
    const phones = [newPhone(), newPhone()];
    await shell.json('buyers', 'import', await fileWith(`phone\n${phones.join('\n')}\n`));
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

  it('changes nothing when it is run again: buyers keep their time of registration', async () => {
    const phone = newPhone();
    const file = await fileWith(`${phone}\n${newPhone()}\n`);
    expect(await counts(file)).toEqual({ added: 2 });
    const before = await shell.json('buyers', 'show', phone);
    expect(await counts(file)).toEqual({ already_registered: 2 });
    expect(await shell.json('buyers', 'show', phone)).toEqual(before);
  });

  it('reads the forms of phones, quotes, headings and delimiters that exports have', async () => {
    const [a, b, c, d, e, f] = Array.from({ length: 6 }, () => newPhone().slice(1));
    const file = await fileWith(
      `\ufeff"Full name";"Mobile"\r\n` +
        `"Sara; ""S"" Ahmadi";0${a}\r\nx;+98${b}\r\nx;0098${c}\r\nx;98${d}\r\nx;${e}\r\n` +
        `x;"۰${f?.replace(/\d/g, (digit) => '۰۱۲۳۴۵۶۷۸۹'.charAt(Number(digit)))}"\r\n`,
    );
    expect(await counts(file)).toEqual({ added: 6, heading: 1 });
  });

  it('reads JSON lines', async () => {
    const phone = newPhone();
    const file = await fileWith(
      `{"phone":"${phone}","name":"x"}\n"${newPhone()}"\n\n{"phone":"${phone}"}`,
      'jsonl',
    );
    expect(await counts(file)).toEqual({ added: 2, duplicate: 1, blank: 1 });
  });

  it('reads the column that --column names', async () => {
    const file = await fileWith(`phone,work\nnone,${newPhone()}\n`);
    expect(await counts(file, '--column', 'Work')).toEqual({ added: 1, heading: 1 });
  });

  it('lists each rejected line by number and reason, without its text, and continues', async () => {
    const file = await fileWith(
      `name,phone\nx,${newPhone()}\nx,02188776655\nx\nx,"0912\nx,${'9'.repeat(70_000)}\n\nx,${newPhone()}`,
    );
    const first = await shell.cli('buyers', 'import', file);
    expect(first).toMatchObject({ exitCode: 0, error: expect.stringContaining(`${file}.rejected.csv`) });
    expect(await readFile(`${file}.rejected.csv`, 'utf8')).toBe(
      '3,not an Iranian mobile number\n4,no phone\n5,a quote is not closed\n6,the line is too long\n',
    );
    const again = await shell.cli('buyers', 'import', file, '--json');
    expect(JSON.parse(again.out)).toMatchObject({
      lines: 8,
      added: 0,
      already_registered: 2,
      rejected: 4,
      heading: 1,
      blank: 1,
    });
    expect((await readFile(`${file}.rejected.csv`, 'utf8')).split('\n')).toHaveLength(5);
  });

  it('names the columns of a file without a phone column, but no number of a line that is no heading', async () => {
    const refused = await shell.cli('buyers', 'import', await fileWith('Name;City;09 12 123\nx;y;z\n'));
    expect(refused.error).toContain('Its columns are: Name, City, (a number).');
    expect(
      (await shell.cli('buyers', 'import', await fileWith('phone,city\n'), '--column', 'work')).error,
    ).toContain('no column work. Name one with --column. Its columns are: phone, city.');
  });

  it('refuses a file that it cannot read, with the reason', async () => {
    const refusals = [
      [await fileWith('name,city\nx,y\n'), 1, '--column'],
      [await fileWith(''), 1, 'empty'],
      [await fileWith(Buffer.from('\ufeffphone\n', 'utf16le')), 1, 'not UTF-8'],
      [await fileWith('x', 'xlsx'), 2, '.csv or .jsonl'],
      ['/nowhere.csv', 1, 'cannot be read'],
    ] as const;
    for (const [file, exitCode, words] of refusals) {
      expect(await shell.cli('buyers', 'import', file)).toMatchObject({
        exitCode,
        error: expect.stringContaining(words),
      });
    }
  });

  it('removes a buyer only after a confirmation', async () => {
    const phone = newPhone();
    await shell.json('buyers', 'import', await fileWith(`${phone}\n`));
    expect((await shell.cli('buyers', 'remove', phone)).exitCode).toBe(1);
    expect(await shell.json('buyers', 'remove', phone, '--yes')).toMatchObject({ removed: true });
    expect((await shell.cli('buyers', 'show', phone)).exitCode).toBe(1);
    const { records } = await shell.json('audit', 'deployment');
    expect(records[0]).toMatchObject({
      action: 'buyer.removed',
      details: { buyer_id: expect.stringMatching(/^byr_/) },
    });
    expect(JSON.stringify(records)).not.toContain(phone.slice(1));
  });
});
