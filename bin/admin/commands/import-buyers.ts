import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { refusal } from '#admin/operations/refusal.ts';
import type { Answer, Session } from '../command.ts';
import {
  type Checkpoint,
  identify,
  type Progress,
  readCheckpoint,
  removeCheckpoint,
} from '../import/checkpoint.ts';
import { importBuyers } from '../import/import-buyers.ts';
import { readLines } from '../import/line-reader.ts';
import { csvFormat, type Format } from '../import/phone-reader.ts';
import { progressBar } from '../import/progress-bar.ts';
import { untilInterrupted } from '../interrupt.ts';
import { propertiesOf } from '../table.ts';
import { UsageError } from '../usage-error.ts';

interface ImportCommandOptions {
  readonly column?: string;
}

const START: Progress = {
  offset: 0,
  lines: 0,
  added: 0,
  already_registered: 0,
  rejected: 0,
  rejected_bytes: 0,
};

const isUtf16 = (head: Buffer): boolean =>
  (head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff);

/** How the file is read and where its first row is. */
const openingOf = async (
  file: string,
  head: Buffer,
  column?: string,
): Promise<{ format: Format; progress: Progress }> => {
  if (isUtf16(head)) throw refusal('bad_input', 'The file is UTF-16; save it as UTF-8.');
  if (/\.(jsonl|ndjson)$/i.test(file)) return { format: { kind: 'jsonl' }, progress: START };
  if (!/\.(csv|tsv|txt)$/i.test(file)) throw new UsageError('Name the file .csv or .jsonl.');
  for await (const [first] of readLines(file, { offset: 0, lines: 0 })) {
    const { format, hasHeading } = csvFormat(first?.text ?? '', column);
    return { format, progress: hasHeading && first ? { ...START, offset: first.end, lines: 1 } : START };
  }
  throw refusal('bad_input', 'The file is empty.');
};

const beginningOf = async (
  session: Session,
  file: string,
  checkpointPath: string,
  column?: string,
): Promise<{ begin: Checkpoint; isResumed: boolean }> => {
  const { head, ...identity } = await identify(file, session.deployment).catch((error: unknown) => {
    throw refusal('bad_input', `${file} cannot be read.`, { cause: error });
  });
  const left = await readCheckpoint(checkpointPath, identity);
  if (left !== undefined) return { begin: left, isResumed: true };
  return { begin: { ...identity, ...(await openingOf(file, head, column)) }, isResumed: false };
};

const countsOf = ({ lines, added, already_registered, rejected }: Progress) => ({
  lines,
  added,
  already_registered,
  rejected,
});

const record = (session: Session, action: string, file: string, progress: Progress): Promise<void> =>
  session.admin.audit.write({
    at: session.admin.now(),
    actor: session.admin.actor,
    action,
    details: { file: basename(file), ...countsOf(progress) },
  });

/** `buyers import` */
export const importFile = async (
  session: Session,
  { column }: ImportCommandOptions,
  file: string,
): Promise<Answer> => {
  const { admin, hashes, terminal } = session;
  const checkpointPath = `${file}.import.json`;
  const rejectedPath = `${file}.rejected.csv`;
  const { begin, isResumed } = await beginningOf(session, file, checkpointPath, column);
  const resumedFrom = isResumed ? begin.progress.lines + 1 : null;
  if (resumedFrom !== null) terminal.error(`Going on at line ${resumedFrom.toLocaleString('en')}.\n`);
  const standingOf = ({ offset, lines }: Progress) => ({ bytes: offset, lines });
  const bar = progressBar(terminal, standingOf(begin.progress), begin.file_bytes);
  const startedAt = Date.now();
  await record(session, 'buyers.import_started', file, begin.progress);

  const { signal, restore } = untilInterrupted();
  const progress = await importBuyers(
    {
      file,
      checkpointPath,
      rejectedPath,
      table: admin.table,
      hashes,
      registeredAt: admin.now(),
      signal,
      onProgress: (reached) => bar.show(standingOf(reached)),
    },
    begin,
  ).finally(restore);
  bar.end(standingOf(progress));
  if (progress.offset < begin.file_bytes) {
    await record(session, 'buyers.import_interrupted', file, progress);
    throw refusal(
      'interrupted',
      `Stopped after line ${progress.lines}. The same command goes on from there.`,
    );
  }
  await record(session, 'buyers.imported', file, progress);
  await removeCheckpoint(checkpointPath);
  if (progress.rejected === 0) await rm(rejectedPath, { force: true });
  const seconds = Math.round((Date.now() - startedAt) / 100) / 10;
  return importAnswer(file, progress, { resumedFrom, rejectedPath, seconds });
};

const importAnswer = (
  file: string,
  progress: Progress,
  about: { readonly resumedFrom: number | null; readonly rejectedPath: string; readonly seconds: number },
): Answer => {
  const rejectedFile = progress.rejected === 0 ? null : about.rejectedPath;
  return {
    json: {
      file,
      ...countsOf(progress),
      rejected_file: rejectedFile,
      resumed_from_line: about.resumedFrom,
      seconds: about.seconds,
    },
    text: propertiesOf([
      ['lines', progress.lines.toLocaleString('en')],
      ['added', progress.added.toLocaleString('en')],
      ['already registered', progress.already_registered.toLocaleString('en')],
      ['rejected', progress.rejected.toLocaleString('en')],
      ['seconds', about.seconds],
    ]),
    ...(rejectedFile === null ? {} : { note: `The rejected lines, by number and reason: ${rejectedFile}` }),
  };
};
