/** The groups of items of a restore: the one way to compare them and to put back what is missing, and the kinds that are no users. */
import { setTimeout as pause } from 'node:timers/promises';
import { type ItemAt, readItems } from '#admin/stores/restored-items.ts';
import type { NewAuditRecord } from '#shared/audit.ts';
import { pauseAfterConflict } from '#shared/table/backoff.ts';
import { type ItemKey, keyIdKey } from '#shared/table/keys.ts';
import { chunksOf } from '#shared/table/reads.ts';
import type { StoredItem, TransactItem } from '#shared/table/writes.ts';
import { type Decision, decideBuyer, decideKey, decideRefusal, refusalItems } from './decisions.ts';
import type { Finding } from './report.ts';
import { putsOf, type Run } from './run.ts';
import type { RestoredSeller } from './sellers.ts';

/** What was found of a group. */
type Found = Decision & Pick<Finding, 'sellerId' | 'id'>;

/** What was found of some groups, and the writes that put what is missing of them. */
export interface Look {
  readonly found: readonly Found[];
  readonly items: readonly TransactItem[];
  readonly record?: NewAuditRecord | undefined;
}

/** A kind of groups, by an item of the restored table for each. */
export interface GroupKind {
  readonly kind: Finding['kind'];
  /** Groups that are put in one transaction. */
  readonly atOnce: number;
  /** Reads what the live table has of some groups, and decides on each. */
  readonly look: (olds: readonly StoredItem[]) => Promise<Look>;
  /** Says how long to wait after groups that were looked at, of which some came back. */
  readonly paceMs?: (groups: number, copied: number) => number;
}

/** How long some groups are looked at again beside the changes of a busy seller. */
const TIMEOUT_MS = 60_000;

/**
 * Looks at some groups, and puts what is missing of them in one transaction. If another writer came first, it looks again. Returns how many
 * groups came back. Throws `service_unavailable` after 60 s of other writers.
 */
const restoreTogether = async (run: Run, { kind, look }: GroupKind, olds: readonly StoredItem[]) => {
  const deadlineMs = performance.now() + TIMEOUT_MS;
  for (let conflicts = 0; ; conflicts += 1) {
    run.check();
    const { found, items, record } = await look(olds);
    const isPut = run.isCopy && items.length > 0;
    if (isPut && !(await run.write(items, record))) {
      await pauseAfterConflict(conflicts, deadlineMs);
      continue;
    }
    for (const { sellerId, id, state, afterwards = 'copied' } of found) {
      if (state === undefined) continue;
      run.report.add({ kind, sellerId, id, state: isPut && state === 'missing' ? afterwards : state });
    }
    return isPut ? found.filter(({ puts }) => puts !== undefined).length : 0;
  }
};

/** Compares groups of the restored table with the live one, and puts what is missing of them. */
export const restoreGroups = async (run: Run, group: GroupKind, olds: readonly StoredItem[]) => {
  for (const some of chunksOf(olds, group.atOnce)) {
    const copied = await restoreTogether(run, group, some);
    await pause(group.paceMs?.(some.length, copied) ?? 0);
  }
};

/** Looks at groups on which their own items decide. */
const lookAtItems =
  (
    { table }: Run,
    keysOf: (old: StoredItem) => readonly (ItemKey | StoredItem)[],
    decide: (old: StoredItem, at: ItemAt) => Found,
  ) =>
  async (olds: readonly StoredItem[]): Promise<Look> => {
    const at = await readItems(table, olds.flatMap(keysOf));
    const found = olds.map((old) => decide(old, at));
    return { found, items: found.flatMap((decision) => putsOf(table, decision)) };
  };

/** Registrations that one transaction puts. */
const BUYERS_AT_ONCE = 50;

export const buyersOf = (run: Run): GroupKind => ({
  kind: 'buyer',
  atOnce: BUYERS_AT_ONCE,
  look: lookAtItems(
    run,
    (old) => [old],
    (old, at) => ({ id: old.buyer_id, ...decideBuyer(run.erasures, old, at) }),
  ),
});

/** Refusals, which two items hold. A person can have two in a table with damage, so each has a transaction of its own. */
export const refusalsOf = (run: Run): GroupKind => ({
  kind: 'refusal',
  atOnce: 1,
  look: lookAtItems(
    run,
    (old) => refusalItems(old).items,
    (old, at) => ({ sellerId: refusalItems(old).sellerId, ...decideRefusal(run.erasures, old, at) }),
  ),
});

/** The keys of one seller, each with the item that finds it by its id and, if it comes back, with an audit record. */
export const keysOf = (run: Run, { sellerId, keys }: RestoredSeller): GroupKind => {
  const { admin } = run;
  const look = lookAtItems(
    run,
    (old) => [old, keyIdKey(String(old.key_id))],
    (old, at) => ({ sellerId, id: old.key_id, ...decideKey(keys, { old, now: admin.now() }, at) }),
  );
  return {
    kind: 'key',
    atOnce: 1,
    async look(olds) {
      const found = await look(olds);
      const [key] = found.found;
      if (key?.afterwards === undefined) return found;
      const about = { seller_id: sellerId, key_id: String(key.id) };
      return { ...found, record: admin.record({ action: 'key.restored', ...about }) };
    },
  };
};
