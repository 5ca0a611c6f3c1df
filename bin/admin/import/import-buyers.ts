import type { ReadStream } from 'node:fs';
import { appendFile, type FileHandle, rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { refusal } from '#admin/refusal.ts';
import { adminBuyerStore, type NewBuyer } from '#admin/stores/buyer-store.ts';
import type { KeyedHashes } from '#shared/secrets/keyed-hashes.ts';
import type { Table } from '#shared/table/client.ts';
import { csvFormat, type Format, readPhone } from './phone-reader.ts';

/** The file to import, and how its result is reported. */
export interface ImportOptions {
  /** The file, opened for reading. It is closed at the end. */
  readonly file: FileHandle;
  readonly kind: Format['kind'];
  /** The column of a CSV file that contains the phone, by name. */
  readonly column?: string | undefined;
  /** The path of the file that the rejected lines are written to. It is replaced. */
  readonly rejectedPath: string;
  readonly table: Table;
  readonly hashes: KeyedHashes;
  /** The time of registration of new buyers (ISO, UTC). */
  readonly registeredAt: string;
  /** Stops the import after the current batch. */
  readonly signal: AbortSignal;
  readonly onProgress: (counts: ImportCounts, bytesRead: number) => void;
}

/** The lines of a file by result; they add up to `lines`. */
export interface ImportCounts {
  readonly lines: number;
  readonly added: number;
  /** Registered before the import. */
  readonly already_registered: number;
  /** The phone is on an earlier line too. */
  readonly duplicate: number;
  readonly rejected: number;
  readonly blank: number;
  /** 1 if the file has a heading. */
  readonly heading: number;
}

const NO_LINES: ImportCounts = {
  lines: 0,
  added: 0,
  already_registered: 0,
  duplicate: 0,
  rejected: 0,
  blank: 0,
  heading: 0,
};

const LINES_PER_BATCH = 2000;

/** One batch of lines: their results but `added` and `already_registered`, the new phones, and `line,reason` of the rejected ones. */
interface Batch {
  readonly counts: { -readonly [result in keyof ImportCounts]: number };
  readonly phones: string[];
  readonly rejected: string[];
}

const newBatch = (): Batch => ({ counts: { ...NO_LINES }, phones: [], rejected: [] });

/**
 * Returns a function that tells whether it was called with this phone before. It keeps a bit for each phone of `+989…`, 125 MB of which
 * the system maps only the pages that are written, so a file of any size can be imported.
 */
const seenBefore = (): ((phone: string) => boolean) => {
  const bits = new Uint8Array(1e9 / 8);
  return (phone) => {
    const number = Number(phone.slice(-9));
    const byte = bits[number >> 3] ?? 0;
    const bit = 1 << (number & 7);
    bits[number >> 3] = byte | bit;
    return (byte & bit) !== 0;
  };
};

/** Returns how the file is read and whether its first line is a heading. Throws `bad_input`. */
const openingOf = (firstLine: string, { kind, column }: ImportOptions) => {
  if (/^\ufffd|\0/.test(firstLine)) throw refusal('bad_input', 'The file is not UTF-8. Save it as UTF-8.');
  return kind === 'jsonl' ? { format: { kind } as const, hasHeading: false } : csvFormat(firstLine, column);
};

/** Reads the file in batches. `stream`: the file as text. */
async function* batchesOf(stream: ReadStream, options: ImportOptions): AsyncGenerator<Batch> {
  const isDuplicate = seenBefore();
  let format: Format | undefined;
  let batch = newBatch();
  let number = 0;
  for await (const text of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })) {
    number += 1;
    const line = number === 1 ? text.replace(/^\ufeff/, '') : text;
    const opening = format === undefined ? openingOf(line, options) : { format, hasHeading: false };
    format = opening.format;
    const reading = opening.hasHeading ? 'heading' : readPhone(line, format);
    batch.counts.lines += 1;
    if (typeof reading === 'string') batch.counts[reading] += 1;
    else if ('reason' in reading) {
      batch.counts.rejected += 1;
      batch.rejected.push(`${number},${reading.reason}\n`);
    } else if (isDuplicate(reading.phone)) batch.counts.duplicate += 1;
    else batch.phones.push(reading.phone);
    if (batch.counts.lines === LINES_PER_BATCH) {
      yield batch;
      batch = newBatch();
    }
  }
  if (format === undefined) throw refusal('bad_input', 'The file is empty.');
  if (batch.counts.lines > 0) yield batch;
}

/** Registers the phones of a batch and returns the number of new buyers. */
const register = async (
  { table, hashes, registeredAt }: ImportOptions,
  { phones }: Batch,
): Promise<number> => {
  const buyers = await Promise.all(
    phones.map(async (phone): Promise<NewBuyer> => {
      const [phoneHashes, buyerId] = await Promise.all([hashes.phone(phone), hashes.buyerId(phone)]);
      return { phoneHashes, buyerId };
    }),
  );
  return adminBuyerStore(table).registerMany(buyers, registeredAt);
};

/** Adds the counts of a batch with this many new buyers. */
const plus = (counts: ImportCounts, batch: Batch, added: number): ImportCounts => {
  const results = { ...batch.counts, added, already_registered: batch.phones.length - added };
  const names = Object.keys(NO_LINES) as (keyof ImportCounts)[];
  return Object.fromEntries(names.map((name) => [name, counts[name] + results[name]])) as typeof results;
};

/**
 * Registers the phones of a file, in batches of 2,000 lines. Running it again is idempotent: registered buyers are counted and not
 * changed, so an interrupted import keeps no state. Returns the counts of the lines that were read, and whether it was stopped.
 */
export const importBuyers = async (
  options: ImportOptions,
): Promise<{ readonly counts: ImportCounts; readonly isStopped: boolean }> => {
  const { file, rejectedPath, signal, onProgress } = options;
  await rm(rejectedPath, { force: true });
  const stream = file.createReadStream({ encoding: 'utf8' });
  let counts = NO_LINES;
  try {
    for await (const batch of batchesOf(stream, options)) {
      if (signal.aborted) return { counts, isStopped: true };
      counts = plus(counts, batch, await register(options, batch));
      const { rejected } = batch;
      if (rejected.length > 0) await appendFile(rejectedPath, rejected.join(''), { mode: 0o600 });
      onProgress(counts, stream.bytesRead);
    }
    return { counts, isStopped: false };
  } finally {
    stream.destroy();
  }
};
