/** What buyers have beside linked users, in a restore: their registrations, and the refusals of the links that they ended. */
import { isDeepStrictEqual } from 'node:util';
import { eraseItem } from '#admin/operations/buyers.ts';
import { type ItemAt, readItems } from '#admin/stores/restored-items.ts';
import { ifEqual } from '#shared/table/conditions.ts';
import { buyerKey, personKey, phoneLinksPartition } from '#shared/table/keys.ts';
import { chunksOf, queryAll } from '#shared/table/reads.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { type Finding, type Restoring, readErasures, type State } from './restoring.ts';

/** Registrations that one transaction puts. */
const BUYERS_AT_ONCE = 50;

const buyerState = (
  { erasures }: Restoring,
  old: StoredItem,
  live: StoredItem | undefined,
): State | undefined => {
  const isErased = erasures.phones.has(String(old.pk).slice(buyerKey('').pk.length));
  const isRemoved = erasures.hasBuyer(old.buyer_id);
  // After an erasure or a removal, what the live table has is a registration of later.
  if (live !== undefined)
    return isErased || isRemoved || isDeepStrictEqual(old, live) ? undefined : 'differs';
  if (isErased) return 'erased';
  return isRemoved ? 'removed' : 'missing';
};

/** Compares registrations, and puts those that are missing. */
export const restoreBuyers = async (run: Restoring, olds: readonly StoredItem[]): Promise<void> => {
  const { table, isCopy, report, write, put } = run;
  for (const some of chunksOf(olds, BUYERS_AT_ONCE)) {
    const liveAt = await readItems(table, some);
    const states = some.map((old) => ({ old, state: buyerState(run, old, liveAt(old)) }));
    const missing = states.filter(({ state }) => state === 'missing');
    // Another writer was first: the next look finds what is still missing.
    if (isCopy && missing.length > 0 && !(await write(missing.map(({ old }) => put(old))))) {
      await restoreBuyers(run, some);
      continue;
    }
    for (const { old, state } of states) {
      if (state === undefined) continue;
      const isCopied = isCopy && state === 'missing';
      report.add({ kind: 'buyer', state: isCopied ? 'copied' : state, id: old.buyer_id });
    }
  }
};

/** A refusal, which two items hold. */
interface Refusal {
  readonly sellerId: string;
  readonly person: StoredItem;
  readonly link: StoredItem;
}

const refusalFrom = ({ pk, sk, refused_at }: StoredItem): Refusal => {
  const [, sellerId = '', personHash = ''] = String(sk).split('#');
  const about = { phone_hash: String(pk).slice(phoneLinksPartition('').length), refused_at };
  return { sellerId, person: { ...personKey(sellerId, personHash), ...about }, link: { pk, sk, ...about } };
};

/**
 * Puts what is missing of a refusal. An item of the person that holds a link was written after it. If the sign-in that lifted a refusal was
 * followed by a removal, nothing tells it: the refusal comes back, and a sign-in at the seller lifts it again.
 */
const restoreRefusal = async (run: Restoring, old: Refusal, at: ItemAt): Promise<Omit<Finding, 'kind'>[]> => {
  const { table, erasures, isCopy, write, put } = run;
  const { sellerId } = old;
  const [person, link] = [at(old.person), at(old.link)];
  if (person !== undefined && link !== undefined) return [];
  if (erasures.phones.has(old.link.phone_hash)) return [{ state: 'erased', sellerId }];
  if (person !== undefined && person.refused_at === undefined) {
    return [{ state: 'linked_again', sellerId, id: person.user_id }];
  }
  if (person !== undefined && person.phone_hash !== old.person.phone_hash)
    return [{ state: 'changed', sellerId }];
  const refused_at = (person ?? link ?? old.link).refused_at;
  const { pk, sk } = old.person;
  const unchanged = {
    ConditionCheck: { TableName: table.name, Key: { pk, sk }, ...ifEqual('refused_at', refused_at) },
  };
  const items = [
    person === undefined ? put({ ...old.person, refused_at }) : unchanged,
    ...(link === undefined ? [put({ ...old.link, refused_at })] : []),
  ];
  const isWhole = person === undefined && link === undefined;
  if (!isCopy) return [{ state: isWhole ? 'missing' : 'incomplete', sellerId }];
  if (await write(items)) return [{ state: isWhole ? 'copied' : 'completed', sellerId }];
  return restoreRefusal(run, old, await readItems(table, [old.person, old.link]));
};

/** Compares refusals, and puts what is missing of them. */
export const restoreRefusals = async (run: Restoring, items: readonly StoredItem[]): Promise<void> => {
  for (const some of chunksOf(items.map(refusalFrom), BUYERS_AT_ONCE)) {
    const wanted = some.filter(({ sellerId }) => run.sellerId === undefined || run.sellerId === sellerId);
    const at = await readItems(
      run.table,
      wanted.flatMap(({ person, link }) => [person, link]),
    );
    for (const refusal of wanted) {
      run.check();
      for (const found of await restoreRefusal(run, refusal, at))
        run.report.add({ kind: 'refusal', ...found });
    }
  }
};

/**
 * Removes what copies from this table have put of buyers who were erased beside them: the erasure could not find it. Such an item is in
 * both tables; what the buyer has of later is in the live one only.
 */
export const eraseAgain = async (run: Restoring): Promise<void> => {
  const { admin, table, source, erasures, report } = run;
  const now = await readErasures(admin, run);
  for (const hash of now.phones) {
    if (erasures.phones.has(hash) && !now.beside.has(hash)) continue;
    for (const pk of [phoneLinksPartition(String(hash)), buyerKey(String(hash)).pk]) {
      const olds = await queryAll(source, { pk });
      const liveAt = await readItems(table, olds);
      for (const old of olds) {
        if (!isDeepStrictEqual(liveAt(old), old)) continue;
        await eraseItem(admin, old);
        const { user_id, buyer_id } = old;
        report.add({
          kind: user_id === undefined ? 'buyer' : 'user',
          state: 'erased',
          id: user_id ?? buyer_id,
        });
      }
    }
  }
};
