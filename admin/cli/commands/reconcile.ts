import { DIFFERENCES, type Difference, findDifferences, repair } from '#admin/operations/reconcile.ts';
import { type AddCommands, type CommandResult, plural, type Session } from '../command.ts';

const BEING_ISSUED =
  'A pending key is younger than two minutes: its issue is running, or was interrupted. Run reconcile again later.';

const viewOf = ({ kind, seller, key, gatewayKey }: Difference, repaired: boolean) => ({
  kind,
  detail: DIFFERENCES[kind],
  seller_id: seller?.seller_id ?? null,
  key_id: key?.key_id ?? null,
  gateway_key_id: gatewayKey?.id ?? null,
  repaired,
});

const compare = async (
  { admin, requireYes }: Session,
  { fix = false }: { fix?: boolean },
): Promise<CommandResult> => {
  const { sellers, keys, beingIssued, differences } = await findDifferences(admin);
  const unknown = differences.filter(({ kind }) => kind === 'unknown_in_gateway').length;
  // After a wrong restore of the table these are all keys.
  if (fix && unknown > 0) {
    await requireYes(`Delete ${plural(unknown, 'key')} from API Gateway, missing in the table?`);
  }
  if (fix) for (const difference of differences) await repair(admin, difference);
  const views = differences.map((difference) => viewOf(difference, fix));
  const found =
    views.length === 0
      ? 'no differences'
      : `${plural(views.length, 'difference')}, ${fix ? views.length : 0} repaired`;
  const where = admin.usagePlans === undefined ? '' : ' with API Gateway';
  const summary = `Compared ${plural(keys, 'key')} of ${plural(sellers, 'seller')}${where}: ${found}.`;
  const table = {
    items: 'differences',
    rows: views.map(({ seller_id, key_id, gateway_key_id, ...view }) => ({
      ...view,
      concerns: [seller_id, key_id ?? gateway_key_id].filter((id) => id !== null),
    })),
    fields: ['detail', 'concerns', 'repaired'],
    terminalFields: ['repaired', 'concerns', 'detail'],
  };
  return {
    json: { sellers, keys, being_issued: beingIssued, differences: views },
    text: views.length === 0 ? `${summary}\n` : table,
    note: `${views.length === 0 ? '' : summary} ${beingIssued === 0 ? '' : BEING_ISSUED}`.trim(),
    exitCode: fix || views.length === 0 ? 0 : 1,
  };
};

/** `reconcile` */
export const addReconcileCommand: AddCommands = ({ add }) => {
  const description = 'compare the table with API Gateway; exit code 1 if a difference is left';
  const fix = 'bring API Gateway to what the table says';
  add('reconcile', description, compare).option('--fix', fix);
};
