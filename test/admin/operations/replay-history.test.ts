import fc from 'fast-check';
import { reconcile } from '#admin/operations/reconcile.ts';
import { replay } from '#admin/operations/replay.ts';
import { beginHistory, operations } from './random-administration.ts';
import { comparable, damage, damageable, itemsIn, restoredFrom, stateAfterReplay } from './restored-table.ts';
import { useAdministration } from './use-administration.ts';

const newAdministration = useAdministration();

describe('replay', () => {
  it('makes a table that was restored at any point of any history equal to the table before the damage, but for corrections of users since', async () => {
    await fc.assert(
      fc.asyncProperty(operations(20), operations(25), fc.nat(), async (before, since, chosen) => {
        const deployment = await newAdministration();
        // The histories share one API Gateway.
        for (const { id } of await deployment.gatewayKeys()) await deployment.gateway.deleteKey(id);
        const run = await beginHistory(deployment);
        await run(before);
        const snapshot = await itemsIn(deployment.table);
        await run(since);
        const now = comparable(await itemsIn(deployment.table));
        const lost = damageable(snapshot, now).filter((_, index) => ((chosen >> index) & 1) === 1);
        await damage(deployment.table, lost);

        const admin = await restoredFrom(deployment, snapshot);
        await expect(reconcile(admin, { fix: true })).rejects.toMatchObject({ code: 'not_replayed' });
        await replay(admin, deployment.table);
        expect(comparable(await itemsIn(admin.table))).toEqual(stateAfterReplay(snapshot, now));
        expect((await reconcile(admin, { fix: false })).findings).toEqual([]);
      }),
      // An external id goes from a user of the restore point to one linked since, which is rare by chance.
      {
        numRuns: 8,
        examples: [
          [
            [],
            [
              ['correct', 0],
              ['link', 528],
            ],
            0,
          ],
        ],
      },
    );
  });
});
