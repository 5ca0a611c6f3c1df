import { readFile } from 'node:fs/promises';
import { ResourceNotFoundException } from '@aws-sdk/client-dynamodb';
import { restore } from '#admin/operations/restore/restore.ts';
import { LISTED, type ListedReason } from '#admin/operations/restore/restoring.ts';
import { refusal } from '#admin/refusal.ts';
import type { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import { parsePhone } from '#shared/values/phone.ts';
import type { AddCommands, CommandResult, Session } from '../command.ts';
import { withProgress } from '../terminal.ts';

interface Options {
  readonly from: string;
  readonly seller?: string;
  readonly erased?: string;
}

/** A list of more rows says how many they are; `--json` has all. */
const ROWS_SHOWN = 20;

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

/** Compares, or copies if `isDry` is false. */
const run = async (session: Session, options: Options, isDry: boolean): Promise<CommandResult> => {
  const { admin, terminal, requireYes } = session;
  const { from, seller: sellerId } = options;
  const erased = options.erased === undefined ? undefined : await readErased(session, options.erased);
  const source = { client: admin.table.client, name: from };
  const question = `Copy what ${admin.table.name} lacks from ${from}? \`restore compare\` shows what that is.`;
  if (!isDry) await requireYes(question);
  const { counts, listed } = await withProgress(terminal, 'users', (progress) =>
    restore(admin, { source, isDry, sellerId, erased, ...progress }),
  ).catch((cause: unknown) => {
    if (!(cause instanceof ResourceNotFoundException)) throw cause;
    throw refusal('bad_input', `There is no table ${from} in this account and Region.`, { cause });
  });
  const lists = Object.entries(LISTED).flatMap(([reason, detail]) => {
    const items = [...(listed.get(reason as ListedReason) ?? [])].map(([id, seller_id]) => ({
      id,
      seller_id,
    }));
    return items.length === 0 ? [] : [{ reason, detail, count: items.length, items }];
  });
  return {
    json: { from, to: admin.table.name, counts, listed: lists },
    text: [
      Object.keys(counts).length === 0 ? 'Nothing is missing.\n' : { rows: [counts] },
      ...lists.flatMap(({ detail, count, items }) => [
        `${detail}${count > ROWS_SHOWN ? ` ${count}, of which these are the first:` : ''}\n`,
        { items: 'items', rows: items.slice(0, ROWS_SHOWN), fields: ['id', 'seller_id'] },
      ]),
    ],
    note: isDry ? 'Nothing was changed. `restore copy` makes these changes.' : 'Run `reconcile --fix` next.',
  };
};

/** `restore compare|copy` */
export const addRestoreCommands: AddCommands = ({ group }) => {
  const add = group('restore', 'bring back what the table has lost, while the service runs');
  const commands = [
    ['compare', 'show what restore copy would do; change nothing', true],
    ['copy', 'copy what is missing from a table that DynamoDB restored', false],
  ] as const;
  for (const [name, description, isDry] of commands) {
    const work = (session: Session, options: Options) => run(session, options, isDry);
    add(name, description, work, `restore ${name} --from restored --stage prod`)
      .requiredOption('--from <table>', 'the table that DynamoDB restored')
      .option('--seller <id>', 'only this seller, and no buyers')
      .option('--erased <file>', 'phones to erase again, one on each line');
  }
};
