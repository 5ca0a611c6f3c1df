import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { countLines, type ImportOptions, importBuyers } from '#admin/operations/import-buyers.ts';
import { keyedHashesFrom } from '#shared/secrets/keyed-hashes.ts';
import type { Table } from '#shared/table/client.ts';
import { fixedSecret } from '#test/fakes/secret.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import { useTable } from '#test/table/use-table.ts';

const table = useTable();
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'import-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

const LINES = 2200;
const BAD_LINES = [2, 1200, 2199, 2200];
/** The phones of each batch, each on many lines. They are three writes. */
const PHONES = 60;
const REJECTED = BAD_LINES.map((line) => `${line},not an Iranian mobile number\n`).join('');

let files = 0;
/** A file of 2,200 lines: two batches. */
const newFile = async (): Promise<string> => {
  files += 1;
  const file = join(folder, `${files}.txt`);
  const phoneOf = (index: number): string => {
    const first = (files * 2 + (index < 2000 ? 0 : 1)) * PHONES;
    return `0912${String(first + (index % PHONES)).padStart(7, '0')}`;
  };
  const lines = Array.from({ length: LINES }, (_, index) =>
    BAD_LINES.includes(index + 1) ? 'unknown' : phoneOf(index),
  );
  await writeFile(file, `${lines.join('\n')}\n`);
  return file;
};

const importFile = async (path: string, options: Partial<ImportOptions> = {}) =>
  importBuyers({
    path,
    rejectedPath: `${path}.rejected.csv`,
    table,
    hashes: keyedHashesFrom(
      fixedSecret(JSON.stringify({ current: 'a secret of a test, of forty characters!' })),
    ),
    registeredAt: '2026-11-21T10:00:00.000Z',
    signal: new AbortController().signal,
    onProgress: () => {},
    ...options,
  });

/** A table that fails after a number of writes, when these are done. */
const failingAfter = (writes: number): Table => {
  const done: Promise<unknown>[] = [];
  return interceptedTable(table, async ({ name }, send) => {
    if (name !== 'BatchWriteCommand') return send();
    if (done.length < writes) {
      done.push(send());
      return done.at(-1);
    }
    await Promise.all(done);
    throw new Error('the table is unreachable');
  });
};

describe('importBuyers', () => {
  it.each([
    ['the first batch', 1, [], 25],
    ['the second batch', 4, [2000], PHONES + 25],
  ])(
    'registers every phone once when the table fails in %s and the import is run again',
    async (_which, writes, reported, registered) => {
      const file = await newFile();
      const reports: number[] = [];
      const options: Partial<ImportOptions> = {
        table: failingAfter(writes),
        onProgress: ({ lines }) => reports.push(lines),
      };
      await expect(importFile(file, options)).rejects.toThrow('unreachable');
      expect(reports).toEqual(reported);

      const { counts, isStopped } = await importFile(file);
      expect(isStopped).toBe(false);
      const added = 2 * PHONES - registered;
      const already_registered = LINES - BAD_LINES.length - added;
      const others = { lines: LINES, rejected: BAD_LINES.length, blank: 0 };
      expect(counts).toEqual({ ...others, added, already_registered });
      expect(await readFile(`${file}.rejected.csv`, 'utf8')).toBe(REJECTED);
    },
  );

  it('adds a phone once that is on several lines, in one batch or in several, and counts its other lines as registered', async () => {
    const file = join(folder, 'repeated.txt');
    const phones = Array.from({ length: 2500 }, (_, index) => `0913${String(index % 60).padStart(7, '0')}`);
    await writeFile(file, phones.join('\n'));
    expect((await importFile(file)).counts).toEqual({
      lines: 2500,
      added: 60,
      already_registered: 2440,
      rejected: 0,
      blank: 0,
    });
  });

  it('stops after the current batch when its signal aborts, and reports the lines of each batch when they are done', async () => {
    const file = await newFile();
    const controller = new AbortController();
    const stopped = await importFile(file, {
      signal: controller.signal,
      onProgress: () => controller.abort(),
    });
    expect(stopped).toEqual({
      isStopped: true,
      counts: {
        lines: 2000,
        added: PHONES,
        already_registered: 1998 - PHONES,
        rejected: 2,
        blank: 0,
      },
    });
    const reports: number[] = [];
    const { counts } = await importFile(file, { onProgress: ({ lines }) => reports.push(lines) });
    expect(counts).toMatchObject({
      added: PHONES,
      already_registered: LINES - BAD_LINES.length - PHONES,
      rejected: BAD_LINES.length,
    });
    expect(reports).toEqual([2000, LINES]);
    expect(await countLines(file)).toBe(LINES);
  });

  it('deletes the file of rejected lines of an earlier import', async () => {
    const file = join(folder, 'corrected.txt');
    await writeFile(file, 'unknown\n');
    await importFile(file);
    expect(await readFile(`${file}.rejected.csv`, 'utf8')).toBe('1,not an Iranian mobile number\n');
    await writeFile(file, '09121234567\n');
    await importFile(file);
    await expect(readFile(`${file}.rejected.csv`)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
