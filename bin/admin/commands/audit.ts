import { keyNamed, sellerNamed } from '#admin/operations/lookup.ts';
import { DEPLOYMENT_SUBJECT } from '#shared/audit.ts';
import type { AddCommands, Session } from '../command.ts';
import { wholeNumberUpTo } from '../option-parsers.ts';
import { auditTable } from '../views.ts';

const MAX_RECORDS = 1000;

const recordsOf = async ({ admin }: Session, subject: string, limit: number) => {
  if (subject.startsWith('key_')) {
    const { seller_id } = await keyNamed(admin, subject);
    return admin.audit.list(seller_id, { keyId: subject, limit });
  }
  if (subject === DEPLOYMENT_SUBJECT) return admin.audit.list(subject, { limit });
  return admin.audit.list((await sellerNamed(admin, subject)).seller_id, { limit });
};

const show = async (session: Session, subject: string, { limit }: { limit: number }) => {
  const records = await recordsOf(session, subject, limit);
  return { json: { records }, text: auditTable(records) };
};

/** `audit` */
export const addAuditCommand: AddCommands = ({ add }) => {
  const examples = ['audit sel_…', 'audit key_…', 'audit deployment'];
  add('audit <subject>', 'list what admins did, newest first', show, ...examples).option(
    '--limit <count>',
    'the maximum number of records',
    wholeNumberUpTo(MAX_RECORDS),
    50,
  );
};
