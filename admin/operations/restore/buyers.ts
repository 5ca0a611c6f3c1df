/** What buyers have beside linked users, in a restore: their registrations, and the refusals of the links that they ended. */
import { forEachPage } from '#admin/stores/batches.ts';
import { readItems } from '#admin/stores/restored-items.ts';
import { ifAbsent, transact } from '#admin/stores/transactions.ts';
import { ifEqual } from '#shared/table/conditions.ts';
import { buyerKey, personKey, REFUSAL_PREFIX, refusalKey } from '#shared/table/keys.ts';
import { chunksOf } from '#shared/table/reads.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import type { Restoring } from './restoring.ts';

/** The items that hold one fact about a buyer, and its time. `isGone`: the buyer was removed or erased since. */
interface Fact {
  readonly name: 'buyers' | 'refusals';
  readonly time: 'registered_at' | 'refused_at';
  readonly items: readonly StoredItem[];
  readonly isGone: boolean;
  readonly sellerId?: string | undefined;
}

const factOf = ({ erasures }: Restoring, item: StoredItem): Fact => {
  const [, hash = ''] = String(item.pk).split('#');
  const [kind, sellerId = '', personHash = ''] = String(item.sk).split('#');
  if (kind === buyerKey('').sk) {
    const isGone = erasures.hasPhone(hash) || erasures.hasBuyer(item.buyer_id);
    return { name: 'buyers', time: 'registered_at', items: [item], isGone };
  }
  const keys = [personKey(sellerId, personHash), refusalKey(hash, sellerId, personHash)];
  const items = keys.map((key) => ({ ...key, phone_hash: hash, refused_at: item.refused_at }));
  return { name: 'refusals', time: 'refused_at', items, isGone: erasures.hasPhone(hash), sellerId };
};

type LiveItems = Awaited<ReturnType<typeof readItems>>;

/**
 * Completes the items of a fact, or deletes those that were copied before the erasure was known. A person item of a user says that its
 * refusal was lifted. If that user was removed since, nothing tells it: the refusal comes back, and a sign-in at the seller lifts it again.
 */
const restoreFact = (restoring: Restoring, { name, time, items, isGone }: Fact, live: LiveItems) => {
  const { table } = restoring;
  const { name: TableName } = table;
  if (isGone) {
    const copied = items.filter((item) => live(item)?.[time] === item[time]);
    const deletions = copied.map(({ pk, sk, [time]: at }) => ({
      Delete: { TableName, Key: { pk, sk }, ...ifEqual(time, at) },
    }));
    return restoring.change('copies erased', copied.length, () => transact(table, deletions));
  }
  const [first] = items.map(live);
  const isLifted = first && (first[time] === undefined || first.phone_hash !== items[0]?.phone_hash);
  const missing = isLifted ? [] : items.filter((item) => live(item) === undefined);
  const puts = missing.map((item) => ({
    Put: { TableName, Item: { ...item, [time]: first?.[time] ?? item[time] }, ...ifAbsent },
  }));
  return restoring.change(name, Math.min(1, puts.length), () => transact(table, puts));
};

/** Facts that are completed at the same time. */
const AT_ONCE = 50;

/** Restores refusals and, unless it is for one seller, registrations, after the users. */
export const restoreBuyers = async (restoring: Restoring): Promise<void> => {
  const { table, source, sellerId } = restoring;
  for (const from of [table, source]) {
    await forEachPage(from, [REFUSAL_PREFIX, buyerKey('').sk], async (items) => {
      const facts = items.map((item) => factOf(restoring, item));
      const isWanted = (fact: Fact) => sellerId === undefined || fact.sellerId === sellerId;
      // What the live table has of a buyer who is gone came after the erasure.
      const wanted = facts.filter((fact) => isWanted(fact) && (from === source || !fact.isGone));
      for (const some of chunksOf(wanted, AT_ONCE)) {
        const live = await readItems(
          table,
          some.flatMap((fact) => fact.items),
        );
        await Promise.all(some.map((fact) => restoreFact(restoring, fact, live)));
      }
    });
  }
};
