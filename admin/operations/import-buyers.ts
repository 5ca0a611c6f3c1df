import { appendFile, type FileHandle, open, rm } from 'node:fs/promises';
import { AdminError } from '#admin/admin-error.ts';
import { adminBuyerStore } from '#admin/stores/buyer-store.ts';
import type { KeyedHashes } from '#shared/secrets/keyed-hashes.ts';
import type { Table } from '#shared/table/client.ts';
import { toAsciiDigits } from '#shared/values/digits.ts';

/** The file to import, and how its result is reported. */
export interface ImportOptions {
  /** The path of the file. */
  readonly path: string;
  /** The path of the file that the rejected lines are written to. It is replaced. */
  readonly rejectedPath: string;
  readonly table: Table;
  readonly hashes: KeyedHashes;
  /** The time of registration of new buyers (ISO, UTC). */
  readonly registeredAt: string;
  /** Stops the import after the current batch. */
  readonly signal: AbortSignal;
  /** Receives the counts of the lines that are done. */
  readonly onProgress: (counts: ImportCounts) => void;
}

/** The lines of a file by result; they add up to `lines`. */
export interface ImportCounts {
  readonly lines: number;
  readonly added: number;
  /** Registered before the import, or by an earlier line. */
  readonly already_registered: number;
  readonly rejected: number;
  readonly blank: number;
}

const NO_LINES: ImportCounts = { lines: 0, added: 0, already_registered: 0, rejected: 0, blank: 0 };

const LINES_PER_BATCH = 2000;

/** The forms in exports: those of the API, `00989…`, `989…`, and `9…`, since spreadsheets drop a leading zero. */
const MOBILE = /^(?:\+98|0098|98|0)?(9[0-9]{9})$/;

/** Parses a phone of an export into E.164; undefined if it is not an Iranian mobile number. */
const importedPhone = (text: string): string | undefined => {
  const national = MOBILE.exec(toAsciiDigits(text).replace(/[\s()-]/g, ''))?.[1];
  return national === undefined ? undefined : `+98${national}`;
};

const openFile = (path: string): Promise<FileHandle> =>
  open(path).catch((error: unknown) => {
    throw new AdminError('bad_input', `${path} cannot be read.`, { cause: error });
  });

/** Returns the number of lines of a file. Throws `bad_input` if it cannot be read. */
export const countLines = async (path: string): Promise<number> => {
  await using file = await openFile(path);
  let lines = 0;
  for await (const _ of file.readLines()) lines += 1;
  return lines;
};

/** Yields the lines of a file in batches. */
async function* batchesOf(path: string): AsyncGenerator<readonly string[]> {
  await using file = await openFile(path);
  let batch: string[] = [];
  for await (const line of file.readLines()) {
    batch.push(line);
    if (batch.length < LINES_PER_BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** Imports a batch. `done`: the counts of the lines before it. Returns the counts with those of the batch. */
const importBatch = async (
  { table, hashes, registeredAt, rejectedPath }: ImportOptions,
  done: ImportCounts,
  lines: readonly string[],
): Promise<ImportCounts> => {
  const phones: string[] = [];
  const rejected: string[] = [];
  for (const [index, line] of lines.entries()) {
    const phone = importedPhone(line);
    if (phone !== undefined) phones.push(phone);
    // The reason does not contain what the line contains.
    else if (line.trim() !== '') rejected.push(`${done.lines + index + 1},not an Iranian mobile number\n`);
  }
  const buyers = [...new Set(phones)].map(async (phone) => ({
    phone: await hashes.phone(phone),
    buyerId: await hashes.buyerId(phone),
  }));
  const added = await adminBuyerStore(table).registerMany(await Promise.all(buyers), registeredAt);
  if (rejected.length > 0) await appendFile(rejectedPath, rejected.join(''), { mode: 0o600 });
  return {
    lines: done.lines + lines.length,
    added: done.added + added,
    already_registered: done.already_registered + phones.length - added,
    rejected: done.rejected + rejected.length,
    blank: done.blank + lines.length - phones.length - rejected.length,
  };
};

/**
 * Registers the phones of a file, one on each line, in batches of 2,000 lines. Running it again is idempotent: registered buyers are
 * counted and not changed, so an interrupted import keeps no state. Returns the counts of the lines that were imported, and whether it
 * was stopped.
 */
export const importBuyers = async (
  options: ImportOptions,
): Promise<{ readonly counts: ImportCounts; readonly isStopped: boolean }> => {
  const { path, rejectedPath, signal, onProgress } = options;
  await rm(rejectedPath, { force: true });
  let counts = NO_LINES;
  for await (const lines of batchesOf(path)) {
    if (signal.aborted) return { counts, isStopped: true };
    counts = await importBatch(options, counts, lines);
    onProgress(counts);
  }
  return { counts, isStopped: false };
};
