import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { administration } from '#admin/administration.ts';
import { eraseBuyer } from '#admin/operations/buyers.ts';
import { type ImportOptions, importBuyers } from '#admin/operations/import-buyers.ts';
import { countLines, layoutOf } from '#admin/operations/phone-file.ts';
import { ERASURES_KEPT_SECONDS } from '#admin/stores/audit-store.ts';
import { adminBuyerStore } from '#admin/stores/buyer-store.ts';
import { localAdministration } from '#local/administration.ts';
import { keyedHashesFrom } from '#shared/secrets/keyed-hashes.ts';
import type { Table } from '#shared/table/client.ts';
import { fixedSecret } from '#test/fakes/secret.ts';
import { newPhone } from '#test/generated-people.ts';
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

const NOW = '2026-11-21T10:00:00.000Z';
const LINES = 2200;
const BAD_LINES = [2, 1200, 2199, 2200];
/** The phones of each batch, each on many lines. They are three writes. */
const PHONES = 60;
const REJECTED = `\ufeffline,reason,phone\n${BAD_LINES.map((line) => `${line},not an Iranian mobile number,unknown\n`).join('')}`;

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

const hashes = keyedHashesFrom(
  fixedSecret(JSON.stringify({ current: 'a secret of a test, of forty characters!' })),
);

const importFile = async (path: string, options: Partial<ImportOptions> = {}) =>
  importBuyers({
    layout: await layoutOf(path, undefined),
    rejectedPath: `${path}.rejected.csv`,
    table,
    hashes,
    registeredAt: NOW,
    signal: new AbortController().signal,
    onProgress: () => {},
    ...options,
  });

const isRegistered = async (phone: string): Promise<boolean> =>
  (await adminBuyerStore(table).find(await hashes.phone(phone))) !== undefined;

/** Erases a buyer at a time. */
const eraseAt = async (at: string, phone: string) =>
  eraseBuyer(
    administration({ ...localAdministration(table, 'local:tester'), clock: () => Date.parse(at) }),
    await hashes.phone(phone),
  );

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
      const others = { lines: LINES, erased: 0, rejected: BAD_LINES.length, blank: 0 };
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
      erased: 0,
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
        erased: 0,
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
    expect(await countLines(await layoutOf(file, undefined))).toBe(LINES);
  });

  it('begins the file of rejected lines with its mark and header, also if the first one is in a later batch', async () => {
    const file = join(folder, 'late.txt');
    await writeFile(file, `${'09121234567\n'.repeat(2000)}unknown\nnobody\n`);
    await importFile(file);
    const reason = 'not an Iranian mobile number';
    expect(await readFile(`${file}.rejected.csv`, 'utf8')).toBe(
      `\ufeffline,reason,phone\n2001,${reason},unknown\n2002,${reason},nobody\n`,
    );
  });

  it('reads the audit of 35 days once, and then what is newer than an hour before its start', async () => {
    const since: string[] = [];
    const watched = interceptedTable(table, ({ name, input }, send) => {
      const values = input.ExpressionAttributeValues as Record<string, string> | undefined;
      if (name === 'QueryCommand')
        since.push(...Object.values(values ?? {}).filter((each) => /^20/.test(each)));
      return send();
    });
    await importFile(await newFile(), { table: watched });
    const later = '2026-11-21T09:00:00.000Z';
    expect(since).toEqual(['2026-10-17T10:00:00.000Z', later, later, later]);
  });

  it('deletes the file of rejected lines of an earlier import', async () => {
    const file = join(folder, 'corrected.txt');
    await writeFile(file, 'unknown\n');
    await importFile(file);
    expect(await readFile(`${file}.rejected.csv`, 'utf8')).toContain(
      '1,not an Iranian mobile number,unknown\n',
    );
    await writeFile(file, '09121234567\n');
    await importFile(file);
    await expect(readFile(`${file}.rejected.csv`)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('does not register again who was erased since an earlier import, by a file of another name too, and counts the lines', async () => {
    const [erased, kept] = [newPhone(), newPhone()];
    const text = `${erased}\n${kept}\n${erased}\n`;
    const [first, again] = [join(folder, 'first.txt'), join(folder, 'again.txt')];
    await writeFile(first, text);
    await writeFile(again, text);
    expect((await importFile(first)).counts).toMatchObject({ added: 2, already_registered: 1, erased: 0 });
    await eraseAt(NOW, erased);
    for (const file of [first, again]) {
      const counts = { lines: 3, added: 0, already_registered: 1, erased: 2, rejected: 0, blank: 0 };
      // Not even for a moment: nothing is written.
      expect((await importFile(file, { table: failingAfter(0) })).counts).toEqual(counts);
    }
    expect(await isRegistered(erased)).toBe(false);
    expect(await isRegistered(kept)).toBe(true);
  });

  it('counts an erased buyer who has registered again as registered', async () => {
    const phone = newPhone();
    const file = join(folder, 'back.txt');
    await writeFile(file, phone);
    await eraseAt(NOW, phone);
    const buyer = { phone: await hashes.phone(phone), buyerId: await hashes.buyerId(phone) };
    await adminBuyerStore(table).registerMany([buyer], NOW);
    expect((await importFile(file)).counts).toMatchObject({ already_registered: 1, erased: 0 });
  });

  it('leaves an erased buyer out for 35 days, as long as the record of the erasure has the hashes', async () => {
    const phone = newPhone();
    const file = join(folder, 'later.txt');
    await writeFile(file, phone);
    await eraseAt(NOW, phone);
    const later = (ms: number) => new Date(Date.parse(NOW) + ERASURES_KEPT_SECONDS * 1000 + ms).toISOString();
    expect((await importFile(file, { registeredAt: later(-1) })).counts).toMatchObject({ erased: 1 });
    expect((await importFile(file, { registeredAt: later(1) })).counts).toMatchObject({ added: 1 });
  });

  it('removes the registration of a buyer who is erased while the batch is written', async () => {
    const [erased, kept] = [newPhone(), newPhone()];
    const file = join(folder, 'race.txt');
    await writeFile(file, `${erased}\n${kept}\n`);
    const raced = interceptedTable(table, async ({ name }, send) => {
      if (name === 'BatchWriteCommand') await eraseAt(NOW, erased);
      return send();
    });
    const { counts } = await importFile(file, { table: raced });
    expect(counts).toMatchObject({ lines: 2, added: 1, already_registered: 0, erased: 1 });
    expect(await isRegistered(erased)).toBe(false);
    expect(await isRegistered(kept)).toBe(true);
  });
});
