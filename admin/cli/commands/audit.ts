import { type Administration, requireSeller } from '#admin/administration.ts';
import { containing, sellerOrKeyNamed } from '#admin/operations/lookup.ts';
import { type AuditRecord, DEPLOYMENT_SUBJECT } from '#shared/audit.ts';
import type { AddCommands, Session } from '../command.ts';
import { wholeNumberUpTo } from '../option-parsers.ts';

const MAX_RECORDS = 1000;

interface AuditOptions {
  readonly limit: number;
  readonly search?: string;
}

/** A record as a table shows it: `sara` of `arn:aws:sts::000000000000:assumed-role/admin/sara`, and the key among the details. */
const rowOf = ({ at, actor, action, key_id, details }: AuditRecord) => ({
  at,
  actor: actor.slice(actor.lastIndexOf('/') + 1),
  action,
  details: key_id === undefined ? details : { key: key_id, ...details },
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

const show = async ({ admin }: Session, subject: string, { limit, search }: AuditOptions) => {
  const contains = containing(search);
  const { partition, keyId } = await subjectOf(admin, subject);
  const isWanted = ({ at, actor, action, key_id = '', details }: AuditRecord): boolean =>
    (keyId === undefined || key_id === keyId) &&
    contains(at, actor, action, key_id, ...Object.values(details).map(String));
  const records = await admin.audit.list(partition, { isWanted, limit });
  if (records.length === 0 && partition.startsWith('sel_')) await requireSeller(admin, partition);
  const fields = ['at', 'actor', 'action', 'details'];
  return { json: { records }, text: { items: 'records', rows: records.map(rowOf), fields } };
};

/** `audit` */
export const addAuditCommand: AddCommands = ({ add }) => {
  const examples = ['audit key_… --search rotated', 'audit deployment'];
  add('audit <subject>', 'list what admins did, newest first', show, ...examples)
    .option('--search <text>', 'only those whose time, actor, action or details contain this')
    .option('--limit <count>', 'the maximum number of records', wholeNumberUpTo(MAX_RECORDS), 50);
};
