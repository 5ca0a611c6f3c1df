import { appendFile, rm } from 'node:fs/promises';
import { auditStore } from '#admin/stores/audit-store.ts';
import { adminBuyerStore, type NewBuyer } from '#admin/stores/buyer-store.ts';
import type { KeyedHashes } from '#shared/secrets/keyed-hashes.ts';
import type { Table } from '#shared/table/client.ts';
import { parsePhone } from '#shared/values/phone.ts';
import { trimPasted } from '#shared/values/plain-text.ts';
import { type FileLayout, type PhoneLine, phoneLines } from './phone-file.ts';

/** The file to import, and how its result is reported. */
export interface ImportOptions {
  readonly layout: FileLayout;
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

/** The lines of a file by result, without its header; they add up to `lines`. */
export interface ImportCounts {
  readonly lines: number;
  readonly added: number;
  /** Registered before the import, or by an earlier line. */
  readonly already_registered: number;
  /** Left out: the buyer was erased in the last 35 days. */
  readonly erased: number;
  readonly rejected: number;
  readonly blank: number;
}

const NO_LINES: ImportCounts = {
  lines: 0,
  added: 0,
  already_registered: 0,
  erased: 0,
  rejected: 0,
  blank: 0,
};

const LINES_PER_BATCH = 2000;

interface Import extends ImportOptions {
  /** Reads the erasures, and returns whether a phone was erased. */
  readonly readErasures: ReturnType<ReturnType<typeof auditStore>['erasures']>;
}

/** Yields the lines of a file in batches. */
async function* batchesOf(layout: FileLayout): AsyncGenerator<readonly PhoneLine[]> {
  let batch: PhoneLine[] = [];
  for await (const line of phoneLines(layout)) {
    batch.push(line);
    if (batch.length < LINES_PER_BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

const reasonOf = ({ phone = '' }: PhoneLine): string =>
  trimPasted(phone) === '' ? 'no phone' : 'not an Iranian mobile number';

/**
 * Returns the text for the file of rejected lines: of each its number, the reason, and the whole line. The first part has a header, so that the
 * file can be corrected and imported itself, and a byte order mark, which spreadsheets need for Persian.
 */
const rejectedText = (
  { delimiter, column }: FileLayout,
  lines: readonly PhoneLine[],
  isFirst: boolean,
): string => {
  const header = ['line', 'reason', column?.header ?? 'phone'];
  const rows = lines.map((line) => [line.line, reasonOf(line), line.text]);
  const text = (isFirst ? [header, ...rows] : rows).map((row) => `${row.join(delimiter)}\n`).join('');
  return isFirst ? `\ufeff${text}` : text;
};

/**
 * Registers those of the buyers, each given once, who are not registered, but for those who were erased in the last 35 days. Returns both.
 */
const registerMissing = async <Some extends NewBuyer>(
  { table, registeredAt, readErasures }: Import,
  buyers: readonly Some[],
) => {
  const store = adminBuyerStore(table);
  const missing = await store.missingOf(buyers);
  const before = await readErasures();
  const wanted = missing.filter(({ phone }) => !before(phone));
  await store.registerMany(wanted, registeredAt);
  // An erasure between the two found no registration to remove.
  const after = await readErasures();
  for (const { phone } of wanted.filter((each) => after(each.phone)))
    await store.unregister(phone, registeredAt);
  return {
    added: wanted.filter(({ phone }) => !after(phone)),
    erased: missing.filter(({ phone }) => after(phone)),
  };
};

/** Imports a batch. `done`: the counts of the lines before it. Returns the counts with those of the batch. */
const importBatch = async (
  started: Import,
  done: ImportCounts,
  lines: readonly PhoneLine[],
): Promise<ImportCounts> => {
  const { hashes, layout, rejectedPath } = started;
  const filled = lines.filter(({ isBlank }) => !isBlank);
  const read = filled.map((line) => ({ line, phone: parsePhone(line.phone ?? '') }));
  const rejected = read.flatMap(({ line, phone }) => (phone === undefined ? [line] : []));
  const linesOf = Map.groupBy(
    read.flatMap(({ phone }) => phone ?? []),
    (phone) => phone,
  );
  const buyers = [...linesOf].map(async ([phone, { length: count }]) => ({
    phone: await hashes.phone(phone),
    buyerId: await hashes.buyerId(phone),
    count,
  }));
  const { added, erased } = await registerMissing(started, await Promise.all(buyers));
  if (rejected.length > 0) {
    const text = rejectedText(layout, rejected, done.rejected === 0);
    await appendFile(rejectedPath, text, { mode: 0o600 });
  }
  const left = erased.reduce((sum, { count }) => sum + count, 0);
  return {
    lines: done.lines + lines.length,
    added: done.added + added.length,
    already_registered: done.already_registered + filled.length - rejected.length - added.length - left,
    erased: done.erased + left,
    rejected: done.rejected + rejected.length,
    blank: done.blank + lines.length - filled.length,
  };
};

/**
 * Registers the phones of a file in batches of 2,000 lines. Running it again is idempotent: registered buyers are counted and not changed,
 * and those who were erased since stay erased, so an interrupted import keeps no state. Returns the counts of the lines that were imported,
 * and whether it was stopped.
 */
export const importBuyers = async (
  options: ImportOptions,
): Promise<{ readonly counts: ImportCounts; readonly isStopped: boolean }> => {
  const { layout, rejectedPath, table, registeredAt, signal, onProgress } = options;
  const started = { ...options, readErasures: auditStore(table).erasures(registeredAt) };
  await rm(rejectedPath, { force: true });
  let counts = NO_LINES;
  for await (const lines of batchesOf(layout)) {
    if (signal.aborted) return { counts, isStopped: true };
    counts = await importBatch(started, counts, lines);
    onProgress(counts);
  }
  return { counts, isStopped: false };
};
