import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { countLines, layoutOf, phoneLines } from '#admin/operations/phone-file.ts';
import { exportedFiles, UNREADABLE } from '#test/exported-files.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'phones-'));
});
afterAll(() => rm(folder, { recursive: true }));

const PHONES = ['09990001001', '09990001002'];
const ROWS = [['Name', 'Mobile'], ...PHONES.map((phone) => ['Sara', phone])];

const written = async (bytes: Uint8Array | string): Promise<string> => {
  const path = join(folder, 'export.csv');
  await writeFile(path, bytes);
  return path;
};

const phonesIn = async (path: string, column: string | undefined) => {
  const lines = [];
  for await (const line of phoneLines(await layoutOf(path, column))) lines.push(line);
  return lines.filter(({ isBlank }) => !isBlank);
};

describe('a file of phones', () => {
  it.each(exportedFiles(ROWS))('is read with $form', async ({ bytes }) => {
    const found = await phonesIn(await written(bytes), 'mobile');
    expect(found.map(({ phone }) => phone)).toEqual(PHONES);
  });

  it('has a line that names the delimiter before its header, and its lines are counted from that line', async () => {
    const path = await written('sep=|\r\nMobile|Name\r\n09990001001|Sara\r\nunknown|Reza\r\n');
    const found = await phonesIn(path, 'mobile');
    expect(found.map(({ line, phone, text }) => [line, phone, text])).toEqual([
      [3, '09990001001', '09990001001|Sara'],
      [4, 'unknown', 'unknown|Reza'],
    ]);
    expect(await countLines(await layoutOf(path, 'mobile'))).toBe(2);
  });

  it('has a quote within a name of its header', async () => {
    const path = await written('Screen 5";Mobile\n"6;7";09990001001\n');
    expect((await phonesIn(path, 'mobile')).map(({ phone }) => phone)).toEqual(['09990001001']);
  });

  it.each(UNREADABLE)('is refused with $form', async ({ bytes }) => {
    const reading = async () => phonesIn(await written(bytes), undefined);
    await expect(reading()).rejects.toMatchObject({ code: 'bad_input' });
  });
});
