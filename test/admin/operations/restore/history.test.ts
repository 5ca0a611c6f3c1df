import fc from 'fast-check';
import { reconcile } from '#admin/operations/reconcile.ts';
import { copyMissing } from '#admin/operations/restore/copy.ts';
import { putAll } from '#admin/stores/batches.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { beginHistory, operations } from '../random-administration.ts';
import { useAdministration } from '../use-administration.ts';
import { type Damage, damage, itemsIn, keyText } from './damage.ts';
import { faultsIn, faultsOfPages } from './invariants.ts';

const newAdministration = useAdministration();

const usersIn = (items: readonly StoredItem[]): StoredItem[] =>
  items.filter(({ pk }) => String(pk).startsWith('USERS#'));

/** Which items are lost. The list is used again and again, so its length should divide no number of items. */
const LOSSES = fc.array(fc.constantFrom<Damage>('none', 'lost'), { minLength: 11, maxLength: 29 });

/** What a copy writes of an item that exists: the counts of a seller. */
const withoutCounts = ({ event_count: _, removed_count: __, ...item }: StoredItem): StoredItem => item;

const isIndex = ({ pk }: StoredItem): boolean => String(pk).startsWith('REMOVALS#');

/** The users that a page can come back to: those of the restore point whose place is still empty. */
const isOpen = (result: string): boolean => ['taken', 'removal_unknown', 'seller_missing'].includes(result);

describe('after any history of changes', () => {
  it('the table has no faults and API Gateway is as it says, and a copy after losses brings back every user but those that went or are listed, changes nothing else, and does nothing when it runs again', async () => {
    await fc.assert(
      fc.asyncProperty(operations(40, 10), operations(25, 4), LOSSES, async (before, since, list) => {
        const deployment = await newAdministration();
        const { admin, table } = deployment;
        // The histories share one API Gateway.
        for (const { id } of await deployment.gatewayKeys()) await deployment.gateway.deleteKey(id);
        const run = await beginHistory(deployment);
        await run(before);
        const [snapshot, source] = [await itemsIn(table), await deployment.newTable()];
        await putAll(source, snapshot);
        await run(since);
        const now = await itemsIn(table);
        expect(faultsIn(now)).toEqual([]);
        expect((await reconcile(admin, { fix: false })).findings).toEqual([]);
        await damage(table, { now, list });
        const damaged = await itemsIn(table);

        const found = await copyMissing(admin, { source, isDryRun: false });
        const restored = await itemsIn(table);

        const past = new Set(usersIn(snapshot).map(({ id }) => id));
        const [existed, back] = [now, restored].map((items) => new Set(usersIn(items).map(({ id }) => id)));
        const kept = found.filter(({ result }) => result !== 'copied');
        const listed = new Set<unknown>(kept.map(({ id }) => id));
        const lost = [...past].filter((id) => existed?.has(id) && !back?.has(id));
        expect(lost.filter((id) => !listed.has(id))).toEqual([]);
        expect([...(back ?? [])].filter((id) => !existed?.has(id))).toEqual([]);

        const after = new Map(restored.map((item) => [keyText(item), withoutCounts(item)]));
        const own = new Set(kept.filter(({ kind }) => kind === 'user').map(({ id }) => id));
        for (const item of damaged.filter((each) => !isIndex(each) && !own.has(String(each.user_id))))
          expect(after.get(keyText(item))).toEqual(withoutCounts(item));

        expect(found.filter(({ result }) => result === 'damaged' || result === 'not_erased')).toEqual([]);
        const again = await copyMissing(admin, { source, isDryRun: false });
        expect(again.filter(({ result }) => result === 'copied')).toEqual([]);
        // Users of later than the restore point are lost.
        const isLater = usersIn(now).some(({ id }) => !past.has(id) && !back?.has(id));
        if (!isLater && !found.some(({ result }) => isOpen(result))) {
          const sellers = await admin.sellers.list();
          const pages = await Promise.all(sellers.map(({ seller_id }) => faultsOfPages(table, seller_id)));
          expect(pages.flat()).toEqual([]);
          expect(faultsIn(restored).filter((fault) => !fault.includes(' has '))).toEqual([]);
        }
      }),
      { numRuns: 10, endOnFailure: true },
    );
  });
});
