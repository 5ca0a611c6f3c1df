import { readFile } from 'node:fs/promises';
import { ResourceNotFoundException } from '@aws-sdk/client-dynamodb';
import { restore } from '#admin/operations/restore/restore.ts';
import { LISTED } from '#admin/operations/restore/rules.ts';
import { refusal } from '#admin/refusal.ts';
import { parsePhone } from '#shared/values/phone.ts';
import type { AddCommands, CommandResult, Session } from '../command.ts';
import { withProgress } from '../progress-bar.ts';

interface Options {
  readonly from: string;
  readonly seller?: string;
  readonly erased?: string;
}

/** A list of more rows says how many they are; `--json` has up to 1,000 of each reason. */
const ROWS_SHOWN = 20;

/** Reads a file with one phone on each line. Returns the hashes of each. */
const readErased = async ({ hashes }: Session, path: string): Promise<(readonly string[])[]> => {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw refusal('bad_input', `${path} cannot be read.`, { cause });
  });
  const lines = text.split('\n').map((line) => line.trim());
  const phones = lines.map((line) => (line === '' ? undefined : parsePhone(line)));
  const wrong = lines.findIndex((line, index) => line !== '' && phones[index] === undefined);
  if (wrong !== -1)
    throw refusal('bad_input', `Line ${wrong + 1} of ${path} is not an Iranian mobile number.`);
  return Promise.all(phones.filter((phone) => phone !== undefined).map((phone) => hashes.phone(phone)));
};

const UNKNOWN_AUDIT =
  'The live table does not go on from this one, so nobody knows what was revoked or erased since: keys are pending until `keys confirm`.';

/** Compares, or copies with `isDry` false. */
const run = async (session: Session, options: Options, isDry: boolean): Promise<CommandResult> => {
  const { admin, terminal } = session;
  const { from, seller: sellerId } = options;
  const erased = options.erased === undefined ? undefined : await readErased(session, options.erased);
  const source = { client: admin.table.client, name: from };
  const restored = await withProgress(terminal, 'users', (progress) =>
    restore(admin, { source, isDry, sellerId, erased, ...progress }).catch((error: unknown) => {
      if (progress.signal.aborted) {
        throw refusal(
          'interrupted',
          'Stopped between two writes. Run the command again: it goes on from there.',
        );
      }
      if (!(error instanceof ResourceNotFoundException)) throw error;
      throw refusal('bad_input', `There is no table ${from} in this account and Region.`, { cause: error });
    }),
  );
  const { counts } = restored.report;
  const listed = Object.keys(LISTED).flatMap((name) => {
    const reason = name as keyof typeof LISTED;
    const entry = restored.report.listed.get(reason);
    return entry === undefined ? [] : [{ reason, detail: LISTED[reason], ...entry }];
  });
  return {
    json: { from, to: admin.table.name, audit_known: restored.isAuditKnown, counts, listed },
    text: [
      Object.keys(counts).length === 0 ? 'Nothing is missing.\n' : { item: counts },
      ...listed.flatMap(({ detail, count, items }) => [
        `${detail}${count > ROWS_SHOWN ? ` ${count}, of which these are the first:` : ''}\n`,
        { items: 'items', rows: items.slice(0, ROWS_SHOWN), fields: ['id', 'seller_id'] },
      ]),
    ],
    note: isDry ? 'Nothing was changed. `restore copy` makes these changes.' : 'Run `reconcile --fix` next.',
    warning: restored.isAuditKnown ? undefined : UNKNOWN_AUDIT,
  };
};

const copy = async (session: Session, options: Options): Promise<CommandResult> => {
  const { admin, confirm } = session;
  await confirm(
    `Copy what ${admin.table.name} lacks from ${options.from}? \`restore compare\` shows what that is.`,
  );
  return run(session, options, false);
};

/** `restore compare|copy` */
export const addRestoreCommands: AddCommands = ({ group }) => {
  const add = group('restore', 'bring back what the table has lost, while the service runs');
  const compareHelp = 'show what restore copy would do; change nothing';
  const copyHelp = 'copy what is missing from a table that DynamoDB restored';
  for (const command of [
    add(
      'compare',
      compareHelp,
      (session: Session, options: Options) => run(session, options, true),
      'restore compare --from restored --stage prod',
    ),
    add('copy', copyHelp, copy, 'restore copy --from restored --stage prod'),
  ]) {
    command
      .requiredOption('--from <table>', 'the table that DynamoDB restored')
      .option('--seller <id>', 'only this seller, and no buyers')
      .option('--erased <file>', 'phones to erase again, one on each line');
  }
};
