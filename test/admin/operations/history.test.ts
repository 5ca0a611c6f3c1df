import fc from 'fast-check';
import { reconcile } from '#admin/operations/reconcile.ts';
import { runsOf } from '#test/full-run.ts';
import { itemsIn } from '#test/table/items-in.ts';
import { faultsIn, faultsOfPages } from './invariants.ts';
import { beginHistory, operations } from './random-administration.ts';
import { useAdministration } from './use-administration.ts';

const newAdministration = useAdministration();

describe('after any history of changes', () => {
  it('the table has no faults, its pages agree with its list, and API Gateway is as it says', async () => {
    await fc.assert(
      fc.asyncProperty(operations(65, 14), async (history) => {
        const deployment = await newAdministration();
        const { admin, table } = deployment;
        // The histories share one API Gateway.
        for (const { id } of await deployment.gatewayKeys()) await deployment.gateway.deleteKey(id);
        const run = await beginHistory(deployment);
        await run(history);
        expect(faultsIn(await itemsIn(table))).toEqual([]);
        const sellers = await admin.sellers.list();
        const pages = await Promise.all(sellers.map(({ seller_id }) => faultsOfPages(table, seller_id)));
        expect(pages.flat()).toEqual([]);
        expect((await reconcile(admin, { fix: false })).findings).toEqual([]);
      }),
      { numRuns: runsOf(10), endOnFailure: true },
    );
  });
});
