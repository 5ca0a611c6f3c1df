import { readFile } from 'node:fs/promises';
import { ResourceNotFoundException } from '@aws-sdk/client-dynamodb';
import { AdminError } from '#admin/admin-error.ts';
import { copyMissing, countsOf } from '#admin/operations/restore/copy.ts';
import { RESULTS, type Result } from '#admin/operations/restore/decisions.ts';
import { EVENTS_AHEAD, renumberEvents } from '#admin/operations/restore/renumber.ts';
import { sellerStore } from '#admin/stores/seller-store.ts';
import type { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import type { Table } from '#shared/table/client.ts';
import { parsePhone } from '#shared/values/phone.ts';
import { type AddCommands, type CommandResult, plural, type Session } from '../command.ts';
import { withProgress } from '../progress.ts';

interface CopyOptions {
  readonly seller?: string;
  readonly erased?: string;
  readonly dryRun?: boolean;
}

/** Reads a file with one phone on each line. Returns the hashes of each. */
const readErased = async ({ hashes }: Session, path: string): Promise<KeyedHash[]> => {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new AdminError('bad_input', `${path} cannot be read.`, { cause });
  });
  const lines = text.split('\n').map((line, index) => ({ line: line.trim(), number: index + 1 }));
  const phones = lines.flatMap(({ line, number }) => {
    const phone = parsePhone(line);
    if (phone !== undefined || line === '') return phone ?? [];
    throw new AdminError('bad_input', `Line ${number} of ${path} is not an Iranian mobile number.`);
  });
  return Promise.all(phones.map((phone) => hashes.phone(phone)));
};

const restoredTable = ({ admin }: Session, name: string): Table => ({ client: admin.table.client, name });

/** Throws `bad_input` for a table that does not exist. */
const ifItExists = async <T>(table: string, work: Promise<T>): Promise<T> =>
  work.catch((cause: unknown) => {
    if (!(cause instanceof ResourceNotFoundException)) throw cause;
    throw new AdminError('bad_input', `There is no table ${table} in this account and Region.`, { cause });
  });

const copy = async (
  session: Session,
  from: string,
  { seller: sellerId, erased: file, dryRun: isDryRun = false }: CopyOptions,
): Promise<CommandResult> => {
  const { admin, terminal, requireYes } = session;
  const to = admin.table.name;
  const erased = file === undefined ? undefined : await readErased(session, file);
  if (!isDryRun) await requireYes(`Copy what ${to} lacks from ${from}? --dry-run shows what that is.`);
  const options = { source: restoredTable(session, from), isDryRun, sellerId, erased };
  const findings = await ifItExists(
    from,
    withProgress(terminal, 'users', (progress) => copyMissing(admin, { ...options, ...progress })),
  );
  const counts = countsOf(findings);
  const found = findings.map(({ kind, id, sellerId: seller_id = null, result }) => ({
    ...{ result, kind, id, seller_id },
  }));
  const summary = (Object.entries(counts) as [Result, number][]).map(([result, count]) => ({
    ...{ result, count, meaning: RESULTS[result] },
  }));
  return {
    json: { from, to, dry_run: isDryRun, counts, found },
    text:
      found.length === 0
        ? 'Nothing is missing.\n'
        : [
            { items: 'results', rows: summary },
            { items: 'findings', rows: found },
          ],
    note: isDryRun ? 'Nothing was changed.' : undefined,
  };
};

const renumber = async (session: Session, name: string): Promise<CommandResult> => {
  const { admin, requireYes } = session;
  const table = restoredTable(session, name);
  const { length } = await ifItExists(name, sellerStore(table).list());
  const ahead = EVENTS_AHEAD.toLocaleString('en');
  const inService = name === admin.table.name ? ' This table is in service.' : '';
  await requireYes(
    `Raise the event numbers of ${plural(length, 'seller')} of ${name} by ${ahead}?${inService} Every reader of events reads all users again.`,
  );
  const sellers = await renumberEvents(admin, table);
  return {
    json: { table: name, sellers, raised_by: EVENTS_AHEAD },
    text: `Raised the event numbers of ${plural(sellers, 'seller')} by ${ahead}.\n`,
  };
};

/** `restore copy|renumber` */
export const addRestoreCommands: AddCommands = ({ group }) => {
  const add = group('restore', 'use a table that DynamoDB restored');
  const copyHelp = 'put back users and registrations that were lost, unless they went since';
  add('copy <table>', copyHelp, copy, 'restore copy restored --dry-run --stage prod')
    .option('--seller <id>', 'only the users of this seller, and no registrations')
    .option('--dry-run', 'show what a copy would do; change nothing')
    .option('--erased <file>', 'phones that were erased since, one on each line');
  const renumberHelp = 'raise the event numbers of a table, before it takes the place of the live one';
  add('renumber <table>', renumberHelp, renumber, 'restore renumber restored --stage prod');
};
