import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import { ResourceNotFoundException } from '@aws-sdk/client-dynamodb';
import { type RestoreReport, restoreReport, STATES, type State } from '#admin/operations/restore/report.ts';
import { restore } from '#admin/operations/restore/restore.ts';
import { refusal } from '#admin/refusal.ts';
import type { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import { parsePhone } from '#shared/values/phone.ts';
import type { AddCommands, CommandResult, Session } from '../command.ts';
import { withProgress } from '../terminal.ts';

interface Options {
  readonly seller?: string;
  readonly erased?: string;
  readonly list?: string;
}

/** Reads a file with one phone on each line. Returns the hashes of each. */
const readErased = async ({ hashes }: Session, path: string): Promise<KeyedHash[]> => {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw refusal('bad_input', `${path} cannot be read.`, { cause });
  });
  const lines = text.split('\n').map((line, index) => ({ line: line.trim(), number: index + 1 }));
  const phones = lines.flatMap(({ line, number }) => {
    const phone = parsePhone(line);
    if (phone !== undefined || line === '') return phone ?? [];
    throw refusal('bad_input', `Line ${number} of ${path} is not an Iranian mobile number.`);
  });
  return Promise.all(phones.map((phone) => hashes.phone(phone)));
};

/** Opens the file of all ids. Throws `bad_input` if it cannot be written. */
const openList = async (path: string) => {
  const refused = (cause: unknown) => {
    throw refusal('bad_input', `${path} cannot be written.`, { cause });
  };
  const file = createWriteStream(path);
  await once(file, 'open').catch(refused);
  const written = finished(file).catch(refused);
  // A full disk ends the command at `close`.
  written.catch(() => {});
  const close = (): Promise<void> => {
    file.end();
    return written;
  };
  return { write: (line: string) => file.write(line), close };
};

const shown = (report: RestoreReport, { from, to }: { readonly from: string; readonly to: string }) => {
  const counts = report.counts();
  const listed = (Object.keys(STATES) as State[]).flatMap((state) => {
    const items = report.first(state);
    const count = counts.reduce((sum, line) => sum + (line.state === state ? line.count : 0), 0);
    return count === 0 ? [] : [{ state, detail: STATES[state], count, items }];
  });
  return {
    json: { from, to, counts, listed },
    text: [
      counts.length === 0 ? 'Nothing is missing.\n' : { items: 'findings', rows: counts },
      ...listed.flatMap(({ state, detail, count, items }) => [
        `${state}${count > items.length ? `, ${count}, of which these are the first` : ''}:\n${detail}\n`,
        { items: 'items', rows: items, fields: ['kind', 'id', 'seller_id'] },
      ]),
    ],
  };
};

const run = async (
  session: Session,
  from: string,
  { isCopy, seller, erased, list }: Options & { readonly isCopy: boolean },
): Promise<CommandResult> => {
  const { admin, terminal, requireYes } = session;
  const source = { client: admin.table.client, name: from };
  const phones = erased === undefined ? undefined : await readErased(session, erased);
  if (isCopy) {
    await requireYes(
      `Copy what ${admin.table.name} lacks from ${from}? \`restore compare\` shows what that is.`,
    );
  }
  const file = list === undefined ? undefined : await openList(list);
  const report = restoreReport(file);
  try {
    await withProgress(terminal, 'users', (progress) =>
      restore(admin, { source, report, isCopy, sellerId: seller, erased: phones, ...progress }),
    );
  } catch (cause) {
    if (!(cause instanceof ResourceNotFoundException)) throw cause;
    throw refusal('bad_input', `There is no table ${from} in this account and Region.`, { cause });
  } finally {
    await file?.close();
  }
  return shown(report, { from, to: admin.table.name });
};

const compare = async (session: Session, from: string, options: Options): Promise<CommandResult> => ({
  ...(await run(session, from, { ...options, isCopy: false })),
  note: 'Nothing was changed. `restore copy` puts what is missing.',
});

const copy = async (session: Session, from: string, options: Options): Promise<CommandResult> => ({
  ...(await run(session, from, { ...options, isCopy: true })),
  note: 'Keys that came back wait for `keys confirm`. Run `reconcile --fix` after it.',
});

/** `restore compare|copy` */
export const addRestoreCommands: AddCommands = ({ group }) => {
  const add = group('restore', 'put back what the table has lost, while the service runs');
  const compareHelp = 'show what is missing or differs from a table that DynamoDB restored; change nothing';
  const copyHelp = 'put back what is missing and was not removed since';
  const commands = [
    add('compare <table>', compareHelp, compare, 'restore compare restored --stage prod'),
    add('copy <table>', copyHelp, copy, 'restore copy restored --stage prod'),
  ];
  for (const command of commands) {
    command
      .option('--seller <id>', 'only this seller, and no buyers')
      .option('--erased <file>', 'phones that were erased since, one on each line')
      .option('--list <file>', 'write the id of everything that was found to a CSV file');
  }
};
