import { readFile, stat, writeFile } from 'node:fs/promises';
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
const fileWith = async (text: string | Uint8Array): Promise<string> => {
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
    expect(await shell.json('buyers', 'show', phones[0] as string)).toMatchObject({
      buyer_id: await hashes.buyerId(`+98${phones[0]?.slice(1)}`),
      registered_at: expect.any(String),
    });
  });

  it('reads the phones that the API accepts, in lines with a byte order mark and any line ending', async () => {
    const [a, b, c, d, e] = Array.from({ length: 5 }, () => newPhone().slice(1));
    const persian = d?.replace(/\d/g, (digit) => '۰۱۲۳۴۵۶۷۸۹'.charAt(Number(digit)));
    const file = await fileWith(
      `\ufeff0${a}\r\n"+98${b}"\n 0${c} \r۰${persian}\n\u202a+98\u00a0${e}\u202c\n\u200e\n`,
    );
    expect(await counts(file)).toEqual({ added: 5, blank: 1 });
  });

  it('writes each rejected line as it was, with its number and the reason, to a file that can be corrected and imported', async () => {
    const long = '9'.repeat(70_000);
    const file = await fileWith(
      `phone\n${newPhone()}\n02188776655\n${long}\n\n"${newPhone()}"\n${newPhone()}`,
    );
    const { exitCode, out, error } = await shell.cli('buyers', 'import', file);
    const rejectedFile = `${file}.rejected.csv`;
    expect({ exitCode, error }).toEqual({ exitCode: 1, error: expect.stringContaining(rejectedFile) });
    expect(out).toMatch(/^rejected +3$/m);
    const reason = 'not an Iranian mobile number';
    const rejected = [
      'line,reason,phone',
      ...[`1,${reason},phone`, `3,${reason},02188776655`, `4,${reason},${long}`],
    ];
    const text = await readFile(rejectedFile, 'utf8');
    expect(text).toBe(`\ufeff${rejected.join('\n')}\n`);
    expect((await stat(rejectedFile)).mode & 0o777).toBe(0o600);
    await writeFile(rejectedFile, text.replace('02188776655', newPhone()));
    const again = await shell.cli('buyers', 'import', rejectedFile, '--column', 'phone', '--json');
    expect(JSON.parse(again.out)).toMatchObject({ lines: 3, added: 1, rejected: 2 });
  });

  it.each([
    ['commas and UTF-8', (text: string) => Buffer.from(text)],
    ['commas and UTF-8 with a byte order mark', (text: string) => Buffer.from(`\ufeff${text}`)],
    ['semicolons', (text: string) => Buffer.from(`\ufeff${text.replaceAll(',', ';')}`)],
    ['tabs and UTF-16', (text: string) => Buffer.from(`\ufeff${text.replaceAll(',', '\t')}`, 'utf16le')],
    ['UTF-16, the higher byte first', (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16()],
  ])('reads a column of a file with %s, with quotes and line breaks in cells', async (_form, bytesOf) => {
    const [first, second] = [newPhone(), newPhone()];
    const broken = '"سارا\r\nاحمدی ""الف""",  ,1';
    const lines = [
      'نام, موبایل ,شهر',
      `"Ahmadi| Sara",${first},تهران`,
      broken,
      `نیلوفر,"${second}"`,
      ',,',
      'علی',
    ];
    const file = await fileWith(bytesOf(lines.join('\r\n')));
    const { exitCode, out } = await shell.cli('buyers', 'import', file, '--column', 'موبایل', '--json');
    expect(exitCode).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ lines: 5, added: 2, rejected: 2, blank: 1 });
    const rejected = await readFile(`${file}.rejected.csv`, 'utf8');
    const expected = ['line,reason,نام, موبایل ,شهر', `3,no phone,${broken}`, '7,no phone,علی'];
    const delimiter = /[,;\t]/.exec(rejected.slice('\ufeffline'.length))?.[0] ?? '';
    expect(rejected).toBe(`\ufeff${expected.join('\n').replaceAll(',', delimiter)}\n`);
  });

  it.each([
    [
      'of which it has several',
      ['id,phone\n1,09121234567\n'],
      'has the columns id, phone. Name that of the phones: --column.',
    ],
    ['that it lacks', ['id,phone\n', 'mobile'], 'has no column mobile. Its first line has: id, phone.'],
    [
      'that it has twice',
      ['phone,Phone\n', 'phone'],
      'has 2 columns phone. Its first line has: phone, Phone.',
    ],
    ['of a file without a header', ['1;09121234567\n', 'phone'], 'Its first line has: 1, [redacted].'],
    ['of an empty file', ['', 'phone'], 'has no column phone.'],
    [
      'of a file in another encoding',
      [Buffer.from('id,\xe3', 'latin1'), 'id'],
      'is neither UTF-8 nor UTF-16.',
    ],
    [
      'of a file with a quote that does not end',
      ['id,phone\n1,"0912\n', 'phone'],
      'a quote that does not end, or a line over 1 MB: line 2.',
    ],
  ] as const)('refuses a column %s, and imports nothing', async (_which, [content, column], sentence) => {
    const file = await fileWith(content);
    const before = await shell.json('audit', 'deployment');
    const option = column === undefined ? [] : ['--column', column];
    expect(await shell.cli('buyers', 'import', file, ...option)).toMatchObject({
      exitCode: 1,
      out: '',
      error: expect.stringContaining(sentence),
    });
    expect(await shell.json('audit', 'deployment')).toEqual(before);
  });

  it('says that erased buyers are left out', async () => {
    const phone = newPhone();
    const file = await fileWith(phone);
    await shell.json('buyers', 'import', file);
    await shell.json('buyers', 'erase', phone, '--yes');
    expect(await shell.cli('buyers', 'import', file)).toMatchObject({
      exitCode: 0,
      out: expect.stringMatching(/^erased +1$/m),
      error: expect.stringContaining('Erased buyers are left out'),
    });
  });

  it('keeps the name of the file in the audit without a phone or national id, and shows it with its control characters escaped', async () => {
    const file = join(shell.folder, '\u001b[31m\u009b\u202e 0912-123-4567 0012345679.txt');
    await writeFile(file, '');
    await shell.json('buyers', 'import', file);
    const { records } = await shell.json('audit', 'deployment', '--limit', '1');
    expect(records[0].details.file).toBe('\u001b[31m\u009b\u202e [redacted].txt');
    for (const options of [[], ['--json'], ['--wide']]) {
      const { out } = await shell.cli('audit', 'deployment', '--limit', '1', ...options);
      expect(out).toContain(String.raw`\u001b[31m\u009b\u202e [redacted].txt`);
      expect(out).not.toMatch(/[^\P{Cc}\n]|\u202e/u);
    }
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
