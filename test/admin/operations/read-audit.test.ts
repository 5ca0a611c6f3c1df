import { deleteSeller } from '#admin/operations/delete-seller.ts';
import { readRecentAudit } from '#admin/operations/read-audit.ts';
import { renameSeller } from '#admin/operations/sellers.ts';
import { auditStore } from '#admin/stores/audit-store.ts';
import { putAll } from '#admin/stores/batches.ts';
import { sellerStore } from '#admin/stores/seller-store.ts';
import { auditPut } from '#shared/audit.ts';
import { sellerKey, sellerListKey } from '#shared/table/keys.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import { type TestAdministration, useAdministration } from './use-administration.ts';

const newAdministration = useAdministration();
let deployment: TestAdministration;
beforeEach(async () => {
  deployment = await newAdministration();
  deployment.clock.set('2026-11-21T10:00:00Z');
});

const SINCE = '2026-11-22T00:00:00.000Z';

const recent = async (
  options: Partial<Parameters<typeof readRecentAudit>[1]> = {},
  admin = deployment.admin,
) => {
  const records = await readRecentAudit(admin, { since: SINCE, isWanted: () => true, limit: 50, ...options });
  return records.map(({ action, seller_id = 'deployment' }) => [action, seller_id]);
};

it('returns the records since a time of all sellers, of deleted ones and of the deployment, the newest first, each once', async () => {
  const { admin, clock } = deployment;
  const [first, second] = [await deployment.seller('First'), await deployment.seller('Second')];
  const gone = await deployment.seller('Gone before');
  await deleteSeller(admin, gone.seller_id);
  clock.set('2026-11-21T23:59:59.999Z');
  await renameSeller(admin, first.seller_id, 'Too old');
  clock.set(SINCE);
  await renameSeller(admin, first.seller_id, 'Renamed');
  clock.advance(1);
  await admin.audit.write(admin.record({ action: 'buyers.imported' }));
  clock.advance(1);
  await deleteSeller(admin, second.seller_id);
  const all = [
    ['seller.deleted', second.seller_id],
    ['seller.suspended', second.seller_id],
    ['buyers.imported', 'deployment'],
    ['seller.renamed', first.seller_id],
  ];
  // The deletion and the suspension before it have one time.
  expect((await recent()).slice(0, 2).sort()).toEqual(all.slice(0, 2));
  expect((await recent()).slice(2)).toEqual(all.slice(2));
  expect(await recent({ isWanted: ({ action }) => action === 'seller.renamed' })).toEqual(all.slice(3));
  expect(await recent({ limit: 3 })).toHaveLength(3);
});

it.each([1, 2])('reads the records of a seller that is deleted right before query %i', async (turn) => {
  const { admin, table } = deployment;
  const { seller_id } = await deployment.seller();
  deployment.clock.set(SINCE);
  await renameSeller(admin, seller_id, 'Renamed');
  let queries = 0;
  const raced = interceptedTable(table, async ({ name }, send) => {
    queries += Number(name === 'QueryCommand');
    if (name === 'QueryCommand' && queries === turn) await deleteSeller(admin, seller_id);
    return send();
  });
  const stores = { sellers: sellerStore(raced), audit: auditStore(raced) };
  expect(await recent({}, { ...admin, ...stores })).toContainEqual(['seller.renamed', seller_id]);
});

it('sends one query for each seller, and reads more sellers than at the same time', async () => {
  const { table } = deployment;
  const created_at = '2026-11-01T10:00:00.000Z';
  const ids = Array.from({ length: 120 }, (_, index) => `sel_${String(index).padStart(3, '0')}`);
  const counts = { user_count: 0, removed_count: 0, event_count: 0 };
  await putAll(
    table,
    ids.flatMap((seller_id) => [
      { ...sellerKey(seller_id), seller_id, name: seller_id, status: 'active', created_at, ...counts },
      { ...sellerListKey(created_at, seller_id) },
      auditPut(table, { at: SINCE, actor: 'local:tester', action: 'key.issued', seller_id }).Put.Item,
    ]),
  );
  const commands: string[] = [];
  const watched = interceptedTable(table, async ({ name }, send) => {
    commands.push(name);
    return send();
  });
  const stores = { sellers: sellerStore(watched), audit: auditStore(watched) };
  const found = await recent({ limit: 1000 }, { ...deployment.admin, ...stores });
  expect(found.map(([, id]) => id).sort()).toEqual(ids);
  // The list of the sellers, the deployment, and each seller.
  expect(commands.filter((name) => name === 'QueryCommand')).toHaveLength(2 + ids.length);
  expect([...new Set(commands)].sort()).toEqual(['BatchGetCommand', 'QueryCommand']);
});
