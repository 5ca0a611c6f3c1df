import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BatchWriteCommand, type DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { type Checkpoint, identify, readCheckpoint } from '#bin/admin/import/checkpoint.ts';
import { importBuyers } from '#bin/admin/import/import-buyers.ts';
import { keyedHashesFrom } from '#shared/secrets/keyed-hashes.ts';
import type { Table } from '#shared/table/client.ts';
import { fixedSecret } from '#test/fakes/secret.ts';
import { type EmbeddedTable, startEmbeddedTable } from '#test/table/embedded-table.ts';

let table: EmbeddedTable;
let folder: string;
beforeAll(async () => {
  table = await startEmbeddedTable();
  folder = await mkdtemp(join(tmpdir(), 'import-'));
});
afterAll(async () => {
  await table.stop();
  await rm(folder, { recursive: true });
});

const LINES = 2600;
const BAD_LINES = [1, 1200, 2599, 2600];

const START = { offset: 0, lines: 0, added: 0, already_registered: 0, rejected: 0, rejected_bytes: 0 };

let files = 0;
const newFile = async (): Promise<string> => {
  files += 1;
  const file = join(folder, `${files}.csv`);
  const lines = Array.from({ length: LINES }, (_, index) =>
    BAD_LINES.includes(index + 1) ? 'nobody' : `0912${String(files * LINES + index).padStart(7, '0')}`,
  );
  await writeFile(file, `${lines.join('\n')}\n`);
  return file;
};

const beginning = async (file: string): Promise<Checkpoint> => {
  const { head: _, ...identity } = await identify(file, 'test');
  return { ...identity, format: { kind: 'csv', delimiter: ',', column: 0 }, progress: START };
};

const optionsFor = (file: string, into: Table, signal = new AbortController().signal) => ({
  file,
  checkpointPath: `${file}.import.json`,
  rejectedPath: `${file}.rejected.csv`,
  table: into,
  hashes: keyedHashesFrom(
    fixedSecret(JSON.stringify({ current: 'a secret of a test, of forty characters!' })),
  ),
  registeredAt: '2026-11-21T10:00:00.000Z',
  signal,
  onProgress: () => {},
});

/** A table that fails for good from a certain write on, as one does whose process ends. */
const failingAfter = (writes: number): Table => {
  let left = writes;
  const client = {
    async send(command: Parameters<DynamoDBDocumentClient['send']>[0]) {
      left -= command instanceof BatchWriteCommand ? 1 : 0;
      if (left < 0) throw new Error('the table is gone');
      return table.client.send(command);
    },
  };
  return { name: table.name, client: client as unknown as DynamoDBDocumentClient };
};

it.each([0, 1, 37, 90])(
  'loses nothing and doubles nothing if the table is gone after %i writes and the import goes on later',
  async (writes) => {
    const file = await newFile();
    const begin = await beginning(file);
    await expect(importBuyers(optionsFor(file, failingAfter(writes)), begin)).rejects.toThrow(
      'the table is gone',
    );
    const left = await readCheckpoint(`${file}.import.json`, begin);
    expect(left?.progress.lines).toBeLessThan(LINES);

    const progress = await importBuyers(optionsFor(file, table), left as Checkpoint);
    expect(progress).toMatchObject({ lines: LINES, rejected: BAD_LINES.length });
    expect(progress.added + progress.already_registered).toBe(LINES - BAD_LINES.length);
    expect(await readFile(`${file}.rejected.csv`, 'utf8')).toBe(
      BAD_LINES.map((line) => `${line},not an Iranian mobile number\n`).join(''),
    );
    const again = await importBuyers(optionsFor(file, table), begin);
    expect(again).toMatchObject({ added: 0, already_registered: LINES - BAD_LINES.length });
  },
);

it('counts a phone once that stands in several batches, though they are written at the same time', async () => {
  const file = await newFile();
  const phones = Array.from({ length: 1800 }, (_, index) => `0913${String(index % 600).padStart(7, '0')}`);
  await writeFile(file, phones.join('\n'));
  const progress = await importBuyers(optionsFor(file, table), await beginning(file));
  expect(progress).toMatchObject({ added: 600, already_registered: 1200, rejected: 0 });
});

it('stops at the next batch when it is told to, with all that was begun in the checkpoint', async () => {
  const file = await newFile();
  const begin = await beginning(file);
  const controller = new AbortController();
  const stopped = await importBuyers(
    { ...optionsFor(file, table, controller.signal), onProgress: () => controller.abort() },
    begin,
  );
  expect(stopped.lines).toBeLessThan(LINES);
  const left = await readCheckpoint(`${file}.import.json`, begin);
  expect(left?.progress).toEqual(stopped);
  const end = await importBuyers(optionsFor(file, table), left as Checkpoint);
  expect(end).toMatchObject({
    added: LINES - BAD_LINES.length,
    already_registered: 0,
    rejected: BAD_LINES.length,
  });
});

it('takes no checkpoint of another file or another deployment', async () => {
  const file = await newFile();
  const begin = await beginning(file);
  await importBuyers(optionsFor(file, table), begin);
  const path = `${file}.import.json`;
  expect(await readCheckpoint(path, begin)).toBeDefined();
  expect(await readCheckpoint(path, { ...begin, target: 'prod' })).toBeUndefined();
  expect(await readCheckpoint(path, { ...begin, file_bytes: begin.file_bytes + 1 })).toBeUndefined();
  expect(await readCheckpoint(path, { ...begin, file_head_sha256: 'other' })).toBeUndefined();
  await writeFile(path, '{"target":');
  expect(await readCheckpoint(path, begin)).toBeUndefined();
});
