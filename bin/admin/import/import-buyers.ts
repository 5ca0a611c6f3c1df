import { type NewBuyer, registerMany } from '#admin/stores/register-buyers.ts';
import type { KeyedHashes } from '#shared/secrets/keyed-hashes.ts';
import type { Table } from '#shared/table/client.ts';
import { type Checkpoint, type Progress, writeCheckpoint } from './checkpoint.ts';
import { type Line, readLines } from './line-reader.ts';
import { readPhone } from './phone-reader.ts';
import { openRejectedLines } from './rejected-lines.ts';

/** What an import needs. */
export interface ImportOptions {
  readonly file: string;
  readonly checkpointPath: string;
  readonly rejectedPath: string;
  readonly table: Table;
  readonly hashes: KeyedHashes;
  /** ISO, UTC: the time of registration of those who are new. */
  readonly registeredAt: string;
  /** Stops it at the next batch; what was done is in the checkpoint. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
}

/** A piece of the file on its way into the table. */
interface Batch {
  readonly phones: ReadonlySet<string>;
  readonly phoneLines: number;
  /** `line,reason` each. */
  readonly rejected: readonly string[];
  readonly last: Line;
}

const LINES_PER_BATCH = 500;
/** So many batches are on their way at once: enough to keep a table busy, few enough to be done again after a crash. */
const MAX_IN_FLIGHT = 4;
const CHECKPOINT_EVERY_MS = 1000;

const batchOf = (lines: readonly Line[], { format }: Checkpoint): Batch => {
  const phones = new Set<string>();
  const rejected: string[] = [];
  let phoneLines = 0;
  for (const line of lines) {
    const reading = readPhone(line, format);
    if (reading === 'blank') continue;
    if ('reason' in reading) {
      rejected.push(`${line.number},${reading.reason}\n`);
      continue;
    }
    phoneLines += 1;
    phones.add(reading.phone);
  }
  return { phones, phoneLines, rejected, last: lines.at(-1) as Line };
};

async function* batchesOf(file: string, checkpoint: Checkpoint): AsyncGenerator<Batch> {
  const { offset, lines } = checkpoint.progress;
  let waiting: Line[] = [];
  for await (const more of readLines(file, { offset, lines })) {
    waiting = waiting.concat(more);
    let start = 0;
    for (; waiting.length - start >= LINES_PER_BATCH; start += LINES_PER_BATCH) {
      yield batchOf(waiting.slice(start, start + LINES_PER_BATCH), checkpoint);
    }
    waiting = waiting.slice(start);
  }
  if (waiting.length > 0) yield batchOf(waiting, checkpoint);
}

const register = async (
  { table, hashes, registeredAt }: ImportOptions,
  phones: readonly string[],
): Promise<number> => {
  const buyers = await Promise.all(
    phones.map(async (phone): Promise<NewBuyer> => {
      const [phoneHashes, buyerId] = await Promise.all([hashes.phone(phone), hashes.buyerId(phone)]);
      return { phoneHashes, buyerId };
    }),
  );
  return registerMany(table, buyers, registeredAt);
};

/** How far it came once a batch is done: `added` of its phones were new. */
const after = (progress: Progress, batch: Batch, added: number, rejectedBytes: number): Progress => ({
  offset: batch.last.end,
  lines: batch.last.number,
  added: progress.added + added,
  already_registered: progress.already_registered + batch.phoneLines - added,
  rejected: progress.rejected + batch.rejected.length,
  rejected_bytes: rejectedBytes,
});

/** The batches that are being written, oldest first. */
const flightOf = (options: ImportOptions) => {
  const inFlight: { readonly batch: Batch; readonly added: Promise<number> }[] = [];
  return {
    isFull: () => inFlight.length >= MAX_IN_FLIGHT,
    isEmpty: () => inFlight.length === 0,
    start(batch: Batch): void {
      // A phone that is on its way already must not be counted twice.
      const isOnItsWay = (phone: string): boolean => inFlight.some((other) => other.batch.phones.has(phone));
      const added = register(
        options,
        [...batch.phones].filter((phone) => !isOnItsWay(phone)),
      );
      // It is awaited in its turn; until then its failure must not end the process.
      added.catch(() => {});
      inFlight.push({ batch, added });
    },
    /** Waits for the oldest and takes it off. It stays if it failed: nothing after it counts as done. */
    async finishOldest(): Promise<{ batch: Batch; added: number }> {
      const { batch, added } = inFlight[0] as (typeof inFlight)[number];
      const count = await added;
      inFlight.shift();
      return { batch, added: count };
    },
    async settle(): Promise<void> {
      await Promise.allSettled(inFlight.map(({ added }) => added));
    },
  };
};

/**
 * Registers the phones of a file from a checkpoint on, and resolves with how far it came: to the end, unless it was stopped. Several
 * batches are written at once, but done is only what has nothing undone before it; so a checkpoint never skips a line, and the lines
 * after it that were written already are found registered the next time.
 */
export const importBuyers = async (options: ImportOptions, begin: Checkpoint): Promise<Progress> => {
  const rejectedLines = await openRejectedLines(options.rejectedPath, begin.progress.rejected_bytes);
  const flight = flightOf(options);
  let progress = begin.progress;
  // The first batch is followed by a checkpoint at once, so that there is one from early on.
  let savedAt = 0;

  const save = async (): Promise<void> => {
    savedAt = Date.now();
    await writeCheckpoint(options.checkpointPath, { ...begin, progress });
  };

  const finishOldest = async (): Promise<void> => {
    const { batch, added } = await flight.finishOldest();
    progress = after(progress, batch, added, await rejectedLines.append(batch.rejected));
    options.onProgress(progress);
    if (Date.now() - savedAt >= CHECKPOINT_EVERY_MS) await save();
  };

  try {
    for await (const batch of batchesOf(options.file, begin)) {
      if (options.signal.aborted) break;
      flight.start(batch);
      if (flight.isFull()) await finishOldest();
    }
    while (!flight.isEmpty()) await finishOldest();
  } finally {
    await flight.settle();
    await save();
    await rejectedLines.close();
  }
  return progress;
};
