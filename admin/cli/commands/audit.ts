import { type Administration, requireSeller } from '#admin/administration.ts';
import { containing, sellerOrKeyNamed } from '#admin/operations/lookup.ts';
import { readRecentAudit } from '#admin/operations/read-audit.ts';
import { type AuditRecord, DEPLOYMENT_SUBJECT } from '#shared/audit.ts';
import { type AddCommands, type CommandResult, plural, type Session } from '../command.ts';
import { parseSince, wholeNumberUpTo } from '../option-parsers.ts';

const MAX_RECORDS = 1000;

interface AuditOptions {
  readonly limit: number;
  readonly search?: string;
  /** Epoch seconds. */
  readonly since?: number;
}

/** Quotes a text that could look like several details. */
const quoted = (value: unknown): unknown => (/[,→"]/.test(String(value)) ? JSON.stringify(value) : value);

/** `professional → free, key: key_…`: what changed first. */
const detailsText = ({ key_id, details: { from, to, ...others } }: AuditRecord, seller?: string): string => {
  const rest = Object.entries(others).sort(([a], [b]) => a.localeCompare(b));
  const named = [['seller', seller], ['key', key_id], ...rest].filter(([, value]) => value !== undefined);
  const change = from === undefined && to === undefined ? [] : [`${quoted(from)} → ${quoted(to)}`];
  return [...change, ...named.map(([name, value]) => `${name}: ${quoted(value)}`)].join(', ');
};

/** A record as a table shows it: `sara` of `arn:aws:sts::000000000000:assumed-role/admin/sara`. `seller`: shown among the details. */
const rowOf = (record: AuditRecord, seller?: string) => ({
  at: record.at,
  actor: record.actor.slice(record.actor.lastIndexOf('/') + 1),
  action: record.action,
  details: detailsText(record, seller),
});

/**
 * The partition of a subject, and the key that its records must concern. A name can be that of a seller or of a key; an id can be that of a
 * deleted seller. Throws `seller_not_found` if it is none of these.
 */
const subjectOf = async (
  admin: Administration,
  subject: string,
): Promise<{ partition: string; keyId?: string | undefined }> => {
  if (subject === DEPLOYMENT_SUBJECT || /^sel_[0-9A-Za-z]+$/.test(subject)) return { partition: subject };
  const { seller_id: partition, key_id: keyId } = await sellerOrKeyNamed(admin, subject);
  return { partition, keyId };
};

/** Where `--search` looks. */
const textsOf = ({ at, actor, action, key_id = '', details }: AuditRecord): readonly string[] => [
  ...[at, actor, action, key_id],
  ...Object.values(details).map(String),
];

const sinceText = (epochSeconds: number): string => new Date(epochSeconds * 1000).toISOString();

const shown = (records: readonly AuditRecord[], rows: readonly object[], limit: number): CommandResult => ({
  json: { records },
  text: { items: 'records', rows, fields: ['at', 'actor', 'action', 'details'] },
  note: records.length < limit ? undefined : `The newest ${plural(limit, 'record')}. --limit shows more.`,
});

/** The records since yesterday, unless `--since` says otherwise, of all sellers and of the deployment. */
const showAll = async (
  { admin }: Session,
  { limit, search, since }: AuditOptions,
): Promise<CommandResult> => {
  const sellers = await admin.sellers.list();
  const nameOf = (id: string): string => sellers.find(({ seller_id }) => seller_id === id)?.name ?? id;
  const sellerOf = ({ seller_id }: AuditRecord) => (seller_id === undefined ? undefined : nameOf(seller_id));
  const contains = containing(search);
  const records = await readRecentAudit(admin, {
    since: sinceText(since ?? parseSince('1d')),
    limit,
    isWanted: (record) => contains(...textsOf(record), sellerOf(record) ?? ''),
  });
  return shown(
    records,
    records.map((record) => rowOf(record, sellerOf(record))),
    limit,
  );
};

const show = async (
  session: Session,
  subject: string | undefined,
  options: AuditOptions,
): Promise<CommandResult> => {
  if (subject === undefined) return showAll(session, options);
  const { admin } = session;
  const { limit, search, since } = options;
  const contains = containing(search);
  const { partition, keyId } = await subjectOf(admin, subject);
  const isWanted = (record: AuditRecord): boolean =>
    (keyId === undefined || record.key_id === keyId) && contains(...textsOf(record));
  const records = await admin.audit.list(partition, {
    isWanted,
    limit,
    since: since === undefined ? undefined : sinceText(since),
  });
  if (records.length === 0 && partition.startsWith('sel_')) await requireSeller(admin, partition);
  return shown(
    records,
    records.map((record) => rowOf(record)),
    limit,
  );
};

/** `audit` */
export const addAuditCommand: AddCommands = ({ add }) => {
  const examples = ['audit key_… --search rotated', 'audit deployment', 'audit --since 7d'];
  const description = 'list what admins did, newest first; without a subject, of all sellers since yesterday';
  add('audit [subject]', description, show, ...examples)
    .option('--since <when>', 'only those since then: 1d, 12h, a day (its start, UTC)', parseSince)
    .option('--search <text>', 'only those whose time, actor, action or details contain this')
    .option('--limit <count>', 'the maximum number of records', wholeNumberUpTo(MAX_RECORDS), 50);
};
