import { requireKey, requireSeller } from '#admin/administration.ts';
import { DEPLOYMENT_SUBJECT } from '#admin/stores/audit-store.ts';
import type { AddCommands, CommandResult, Session } from '../command.ts';
import { wholeNumberUpTo } from '../option-parsers.ts';
import { auditTable } from '../views.ts';

const MAX_RECORDS = 1000;

const recordsOf = async ({ admin }: Session, subject: string, limit: number) => {
  if (subject.startsWith('key_')) {
    const { seller_id } = await requireKey(admin, subject);
    return admin.audit.list(seller_id, { keyId: subject, limit });
  }
  if (subject !== DEPLOYMENT_SUBJECT) await requireSeller(admin, subject);
  return admin.audit.list(subject, { limit });
};

const show = async (
  session: Session,
  { limit }: { limit: number },
  subject: string,
): Promise<CommandResult> => {
  const records = await recordsOf(session, subject, limit);
  return { json: { records }, text: auditTable(records) };
};

/** `audit` */
export const addAuditCommand: AddCommands = (program, act) => {
  program
    .command('audit')
    .argument('<subject>', 'a seller id, a key id, or deployment (imports, buyers, keys only in API Gateway)')
    .description('list what admins did, newest first')
    .option('--limit <count>', 'the maximum number of records', wholeNumberUpTo(MAX_RECORDS), 50)
    .addHelpText('after', '\nExamples:\n  $ npm run admin -- audit sel_…\n  $ npm run admin -- audit key_…')
    .action(act(show));
};
