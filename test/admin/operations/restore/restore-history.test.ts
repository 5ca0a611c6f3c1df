import fc from 'fast-check';
import { reconcile } from '#admin/operations/reconcile.ts';
import { restore } from '#admin/operations/restore/restore.ts';
import { putAll } from '#admin/stores/batches.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { beginHistory, operations } from '../random-administration.ts';
import { useAdministration } from '../use-administration.ts';
import { damage, itemsIn } from './damage.ts';
import { faultsIn, validSecretsIn } from './invariants.ts';

const newAdministration = useAdministration();

const idsIn = (items: readonly StoredItem[]): string[] =>
  items.filter(({ pk }) => String(pk).startsWith('USERS#')).map(({ id }) => String(id));

/** Which items are damaged, and how. The numbers are used again and again, so their count should divide no number of items. */
const DAMAGE = fc.array(fc.integer({ min: 0, max: 23 }), { minLength: 11, maxLength: 29 });

describe('restore', () => {
  it('brings back every user of any history that was not removed, whatever was damaged, makes no secret valid, and does nothing more when it runs again', async () => {
    await fc.assert(
      fc.asyncProperty(operations(25, 8), operations(25, 8), DAMAGE, async (before, since, numbers) => {
        const deployment = await newAdministration();
        const { admin, table, clock } = deployment;
        // The histories share one API Gateway.
        for (const { id } of await deployment.gatewayKeys()) await deployment.gateway.deleteKey(id);
        const run = await beginHistory(deployment);
        await run(before);
        const snapshot = await itemsIn(table);
        await run(since);
        const now = await itemsIn(table);
        const source = await deployment.newTable();
        await putAll(source, snapshot);
        await damage(table, { snapshot, now, numbers });

        await restore(admin, { source, isDry: false });
        const restored = await itemsIn(table);
        expect(faultsIn(restored)).toEqual([]);
        expect(idsIn(restored)).toEqual(idsIn(now));
        const wasValid = validSecretsIn(now, clock());
        const isNew = (secret: string): boolean => !wasValid.includes(secret);
        expect(validSecretsIn(restored, clock()).filter(isNew)).toEqual([]);

        expect((await restore(admin, { source, isDry: false })).counts).toEqual({});
        await reconcile(admin, { fix: true });
        expect((await reconcile(admin, { fix: false })).findings).toEqual([]);
      }),
      { numRuns: 5, endOnFailure: true },
    );
  });
});
