/** The one way to compare groups of items of the restored table with the live one, and to put back what is missing of them. */
import { setTimeout as pause } from 'node:timers/promises';
import { type ItemAt, readItems } from '#admin/stores/restored-items.ts';
import { ifAbsent } from '#admin/stores/transactions.ts';
import { deadlineIn } from '#shared/deadline.ts';
import { eventPut } from '#shared/events/event.ts';
import { ifEqual, settingIfEqual } from '#shared/table/conditions.ts';
import { type ItemKey, sellerKey } from '#shared/table/keys.ts';
import { chunksOf, getItem } from '#shared/table/reads.ts';
import { Conflict, retryConflicts } from '#shared/table/retry-conflicts.ts';
import type { StoredItem, TransactItem } from '#shared/table/writes.ts';
import { countsFrom } from '#shared/users/user-change.ts';
import { type Decided, type Decision, withoutTwice } from './decisions.ts';
import type { Finding } from './report.ts';
import type { Run } from './run.ts';

/** A kind of groups. Each group is known by an item of the restored table. */
export interface GroupKind {
  readonly kind: Finding['kind'];
  /** Groups that one transaction puts. */
  readonly atOnce: number;
  readonly aboutOf: (old: StoredItem) => Pick<Finding, 'sellerId' | 'id'>;
  /** The keys of the items of the live table that decide on a group. */
  readonly keysOf: (old: StoredItem) => readonly (ItemKey | StoredItem)[];
  /** The keys of those that are known only when the first ones are read. */
  readonly moreKeysOf?: (old: StoredItem, at: ItemAt) => readonly (ItemKey | StoredItem)[];
  readonly decide: (old: StoredItem, at: ItemAt) => Decision | Promise<Decision>;
  /** The seller of users, whose events number those that come back. */
  readonly sellerId?: string;
  /** Says how long to wait after groups that were compared, of which some came back. */
  readonly paceMs?: (compared: number, copied: number) => number;
}

/** Reads what the live table has of some groups, and decides on each. */
const decideOn = async (
  { table }: Run,
  { aboutOf, keysOf, moreKeysOf, decide }: GroupKind,
  olds: readonly StoredItem[],
): Promise<readonly Decided[]> => {
  const first = await readItems(table, olds.flatMap(keysOf));
  const rest = await readItems(
    table,
    olds.flatMap((old) => moreKeysOf?.(old, first) ?? []),
  );
  const at: ItemAt = (key) => first(key) ?? rest(key);
  const decided: Decided[] = [];
  for (const old of olds) decided.push({ ...aboutOf(old), ...(await decide(old, at)) });
  return withoutTwice(decided);
};

/** Returns the writes that put what is missing of a group, if what the decision was made by is unchanged. */
export const putsOf = (
  { table: { name: TableName } }: Run,
  { puts = [], unchanged }: Pick<Decision, 'puts' | 'unchanged'>,
): TransactItem[] => {
  const items = puts.map((Item): TransactItem => ({ Put: { TableName, Item, ...ifAbsent } }));
  if (unchanged === undefined) return items;
  const { item, attribute } = unchanged;
  const Key = { pk: item.pk, sk: item.sk };
  return [{ ConditionCheck: { TableName, Key, ...ifEqual(attribute, item[attribute]) } }, ...items];
};

/**
 * Returns the writes for some groups. Each missing user has an event, numbered from `eventCount` on, under the condition that no change of the
 * seller came since that was read.
 */
const writesOf = (
  run: Run,
  { sellerId = '', eventCount }: { readonly sellerId?: string | undefined; readonly eventCount: number },
  decided: readonly Decision[],
): TransactItem[] => {
  const { admin, table } = run;
  const about = { type: 'user.linked', reason: 'restore', occurredAt: admin.now() } as const;
  const items: TransactItem[] = [];
  let linked = 0;
  for (const { user, puts = [], unchanged } of decided) {
    if (user === undefined) {
      items.push(...putsOf(run, { puts, unchanged }));
      continue;
    }
    linked += 1;
    const last_event = eventCount + linked;
    items.push(eventPut(table, sellerId, last_event, { ...about, userId: String(user.id) }));
    items.push(...putsOf(run, { puts: [{ ...user, last_event }, ...puts] }));
  }
  if (linked === 0) return items;
  const raised = settingIfEqual({ event_count: eventCount + linked }, ['event_count', eventCount]);
  return [{ Update: { TableName: table.name, Key: sellerKey(sellerId), ...raised } }, ...items];
};

/** How long some groups are decided again beside the changes of a busy seller. */
const TIMEOUT_MS = 60_000;

/**
 * Decides on some groups, and puts what is missing of them in one transaction. If another writer came first, it decides again. Returns how many
 * groups came back. Throws `service_unavailable` after 60 s of other writers.
 */
const restoreTogether = async (run: Run, group: GroupKind, olds: readonly StoredItem[]) => {
  const { table, isCopy, report } = run;
  const { kind, sellerId } = group;
  return retryConflicts(deadlineIn(TIMEOUT_MS), async () => {
    run.check();
    // Read first: the condition of the write notices whatever changes after it.
    const isNumbered = isCopy && sellerId !== undefined;
    const seller = isNumbered ? await getItem(table, sellerKey(sellerId), 'event_count') : undefined;
    const decided = await decideOn(run, group, olds);
    const items = writesOf(run, { sellerId, eventCount: countsFrom(seller).events }, decided);
    const isPut = isCopy && items.length > 0;
    if (isPut && !(await run.write(items))) return new Conflict();
    for (const { state, afterwards = 'copied', ...about } of decided) {
      if (state === undefined) continue;
      report.add({ kind, ...about, state: isPut && state === 'missing' ? afterwards : state });
    }
    return isPut ? decided.filter(({ puts }) => puts !== undefined).length : 0;
  });
};

/** Compares groups of the restored table with the live one, and puts what is missing of them. */
export const restoreGroups = async (run: Run, group: GroupKind, olds: readonly StoredItem[]) => {
  for (const some of chunksOf(olds, group.atOnce)) {
    const copied = await restoreTogether(run, group, some);
    await pause(group.paceMs?.(some.length, copied) ?? 0);
  }
};
