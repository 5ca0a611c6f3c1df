import type { Administration } from '#admin/administration.ts';
import { containing, keyNamed, sellerNamed } from '#admin/operations/lookup.ts';
import { type AuditRecord, DEPLOYMENT_SUBJECT } from '#shared/audit.ts';
import type { AddCommands, Session } from '../command.ts';
import { wholeNumberUpTo } from '../option-parsers.ts';
import type { Table } from '../render.ts';

const MAX_RECORDS = 1000;

interface AuditOptions {
  readonly limit: number;
  readonly search?: string;
}

/** `sara` of `arn:aws:sts::000000000000:assumed-role/admin/sara`; `--json` has the whole ARN. */
const actorName = (actor: string): string => actor.slice(actor.lastIndexOf('/') + 1);

const auditTable = (records: readonly AuditRecord[]): Table => ({
  items: 'records',
  rows: records.map(({ at, actor, action, key_id, details }) => {
    const sorted = Object.entries(details).sort(([a], [b]) => a.localeCompare(b));
    const texts = sorted.map(([name, value]) => `${name}: ${value}`);
    return {
      'time_(UTC)': at.slice(0, 19).replace('T', ' '),
      actor: actorName(actor),
      action,
      details: (key_id === undefined ? texts : [key_id, ...texts]).join(', '),
    };
  }),
  fields: ['time_(UTC)', 'actor', 'action', 'details'],
});

/** The partition of a subject, and the key that its records must concern. A name can be that of a seller or of a key. */
const subjectOf = async (
  admin: Administration,
  subject: string,
): Promise<{ partition: string; keyId?: string }> => {
  if (subject === DEPLOYMENT_SUBJECT) return { partition: subject };
  const seller = await sellerNamed(admin, subject).catch(() => undefined);
  if (seller !== undefined) return { partition: seller.seller_id };
  if (subject.startsWith('sel_')) return { partition: (await sellerNamed(admin, subject)).seller_id };
  const { seller_id, key_id } = await keyNamed(admin, subject);
  return { partition: seller_id, keyId: key_id };
};

const show = async ({ admin }: Session, subject: string, { limit, search }: AuditOptions) => {
  const contains = containing(search);
  const isFound = ({ at, actor, action, key_id = '', details }: AuditRecord): boolean =>
    contains(at, actor, action, key_id, ...Object.values(details).map(String));
  const { partition, keyId } = await subjectOf(admin, subject);
  const isWanted = (record: AuditRecord): boolean =>
    (keyId === undefined || record.key_id === keyId) && isFound(record);
  const records = await admin.audit.list(partition, { isWanted, limit });
  return { json: { records }, text: auditTable(records) };
};

/** `audit` */
export const addAuditCommand: AddCommands = ({ add }) => {
  const examples = ['audit sel_…', 'audit key_… --search rotated', 'audit deployment'];
  add('audit <subject>', 'list what admins did, newest first', show, ...examples)
    .option('--search <text>', 'only those whose time, actor, action or details contain this')
    .option('--limit <count>', 'the maximum number of records', wholeNumberUpTo(MAX_RECORDS), 50);
};
