import { DIFFERENCES } from '#admin/operations/differences.ts';
import { type Finding, reconcile } from '#admin/operations/reconcile.ts';
import type { AddCommands, Answer, Session } from '../command.ts';
import { tableOf } from '../table.ts';

const STILL_ISSUING =
  'A key is being issued at this moment, or its issue was interrupted less than two minutes ago: look again then.';

const viewOf = ({ kind, seller, key, gatewayKeyId, isMended }: Finding) => ({
  kind,
  detail: DIFFERENCES[kind],
  seller_id: seller?.seller_id ?? null,
  key_id: key?.key_id ?? null,
  gateway_key_id: gatewayKeyId ?? null,
  mended: isMended,
});

/** Mending takes keys away only here: a table that was restored wrongly would have all of them taken away. */
const confirmDeletion = async ({ admin, confirm }: Session): Promise<void> => {
  const { findings } = await reconcile(admin, { fix: false });
  const unknown = findings.filter(({ kind }) => kind === 'unknown_in_gateway').length;
  if (unknown > 0) await confirm(`Delete ${unknown} keys from API Gateway that the table does not know?`);
};

const compare = async (session: Session, { fix = false }: { fix?: boolean }): Promise<Answer> => {
  const { admin } = session;
  if (fix) await confirmDeletion(session);
  const { sellers, keys, beingIssued, findings } = await reconcile(admin, { fix });
  const views = findings.map(viewOf);
  const summary = `Compared ${keys} keys of ${sellers} sellers with API Gateway: `;
  const open = views.filter(({ mended }) => !mended).length;
  const table = tableOf(
    ['difference', 'whose', 'mended'],
    views.map((view) => [
      view.detail,
      [view.seller_id, view.key_id ?? view.gateway_key_id].filter((id) => id !== null).join('\n'),
      view.mended ? 'yes' : 'no',
    ]),
  );
  return {
    json: { sellers, keys, being_issued: beingIssued, differences: views },
    text:
      views.length === 0
        ? `${summary}nothing differs.\n`
        : `${summary}${views.length} differing, ${views.length - open} mended.\n${table}`,
    ...(beingIssued === 0 ? {} : { note: STILL_ISSUING }),
    exitCode: open === 0 ? 0 : 1,
  };
};

/** `reconcile` */
export const addReconcileCommand: AddCommands = (program, act) => {
  program
    .command('reconcile')
    .description('compare the table with API Gateway; exit code 1 if they differ')
    .option('--fix', 'mend what differs: the table is the truth')
    .addHelpText('after', '\nExample:\n  $ npm run admin -- reconcile --fix')
    .action(act(compare));
};
