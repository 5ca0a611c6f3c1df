import { containing, keyNamed, sellerNamed } from '#admin/operations/lookup.ts';
import { type AuditRecord, DEPLOYMENT_SUBJECT } from '#shared/audit.ts';
import type { AddCommands, Session } from '../command.ts';
import { wholeNumberUpTo } from '../option-parsers.ts';
import { auditTable } from '../views.ts';

const MAX_RECORDS = 1000;

interface AuditOptions {
  readonly limit: number;
  readonly search?: string;
}

const show = async ({ admin }: Session, subject: string, { limit, search }: AuditOptions) => {
  const contains = containing(search);
  const isFound = ({ at, actor, action, key_id = '', details }: AuditRecord): boolean =>
    contains(at, actor, action, key_id, ...Object.values(details).map(String));
  const list = (partition: string, isWanted = isFound) => admin.audit.list(partition, { isWanted, limit });
  const recordsOf = async (): Promise<AuditRecord[]> => {
    if (subject === DEPLOYMENT_SUBJECT) return list(subject);
    if (!subject.startsWith('key_')) return list((await sellerNamed(admin, subject)).seller_id);
    const { seller_id } = await keyNamed(admin, subject);
    return list(seller_id, (record) => record.key_id === subject && isFound(record));
  };
  const records = await recordsOf();
  return { json: { records }, text: auditTable(records) };
};

/** `audit` */
export const addAuditCommand: AddCommands = ({ add }) => {
  const examples = ['audit sel_…', 'audit key_… --search rotated', 'audit deployment'];
  add('audit <subject>', 'list what admins did, newest first', show, ...examples)
    .option('--search <text>', 'only those whose time, actor, action or details contain this')
    .option('--limit <count>', 'the maximum number of records', wholeNumberUpTo(MAX_RECORDS), 50);
};
