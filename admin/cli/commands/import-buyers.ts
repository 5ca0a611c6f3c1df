import { basename } from 'node:path';
import { countLines, type ImportCounts, importBuyers } from '#admin/operations/import-buyers.ts';
import { refusal } from '#admin/refusal.ts';
import type { CommandResult, Session } from '../command.ts';
import { progressBar } from '../progress-bar.ts';
import { abortOnInterrupt } from '../terminal.ts';

/** An import is many transactions, so its start and its end have a record each. */
const record = ({ admin }: Session, action: string, path: string, counts?: ImportCounts): Promise<void> =>
  admin.audit.write(admin.record({ action, details: { file: basename(path), ...counts } }));

const resultOf = (
  path: string,
  counts: ImportCounts,
  about: { readonly rejectedPath: string; readonly seconds: number },
): CommandResult => {
  const rejectedFile = counts.rejected === 0 ? null : about.rejectedPath;
  const item = { file: path, ...counts, rejected_file: rejectedFile, seconds: about.seconds };
  return {
    json: item,
    text: { item, fields: [...Object.keys(counts), 'seconds'] },
    note:
      rejectedFile === null ? undefined : `The rejected lines, by number and reason, are in ${rejectedFile}.`,
  };
};

/** `buyers import` */
export const importFile = async (session: Session, path: string): Promise<CommandResult> => {
  const { admin, hashes, terminal } = session;
  const rejectedPath = `${path}.rejected.csv`;
  const bar = progressBar(terminal, await countLines(path), 'lines');
  const startedAt = performance.now();
  await record(session, 'buyers.import_started', path);

  const { signal, restore } = abortOnInterrupt();
  const { counts, isStopped } = await importBuyers({
    path,
    rejectedPath,
    table: admin.table,
    hashes,
    registeredAt: admin.now(),
    signal,
    onProgress: ({ lines }) => bar.update(lines),
  }).finally(() => {
    bar.stop();
    restore();
  });
  if (isStopped) {
    await record(session, 'buyers.import_interrupted', path, counts);
    throw refusal(
      'interrupted',
      `Stopped after line ${counts.lines}. Run the command again: buyers that are registered already stay as they are.`,
    );
  }
  await record(session, 'buyers.imported', path, counts);
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
  return resultOf(path, counts, { rejectedPath, seconds });
};
