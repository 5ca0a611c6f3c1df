/** The sellers in a restore: each with its counts and its entry in the list of all sellers, before its users and keys. */
import { isDeepStrictEqual } from 'node:util';
import { putAll } from '#admin/stores/batches.ts';
import {
  type Audit,
  type Events,
  readEvents,
  readItems,
  readLeastCounts,
} from '#admin/stores/restored-items.ts';
import type { NewAuditRecord } from '#shared/audit.ts';
import { setting, settingIfEqual } from '#shared/table/conditions.ts';
import { removalSummaryKey, sellerKey, sellerListKey, tombstoneKey } from '#shared/table/keys.ts';
import { getItem, queryPages } from '#shared/table/reads.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { countsFrom } from '#shared/users/user-change.ts';
import type { Restoring, State } from './restoring.ts';

/**
 * A seller that comes back numbers its events on from so far above: more than it can have had since the restore point, so that no reader
 * takes a new event for one that it has read.
 */
const EVENTS_AHEAD = 1_000_000;

/** The actions of the audit that change what a seller is. */
const CHANGES = /^seller\.(?:suspended|resumed|renamed|templates_set)$/;

/** The run of a restore for one seller. */
export type SellerRun = Restoring & {
  readonly sellerId: string;
  readonly audit: Audit;
  /** The events since the restore point. They are read when a missing user first needs them. */
  readonly eventsSince: () => Promise<Events>;
};

/** Copies what tells which users were removed: without it, no page of a seller that comes back is right. */
const copyRemovals = async ({ table, source }: Restoring, sellerId: string): Promise<void> => {
  for (const pk of [tombstoneKey(sellerId, 0).pk, removalSummaryKey(sellerId).pk]) {
    for await (const items of queryPages(source, { pk })) {
      const liveAt = await readItems(table, items);
      // Nothing else writes them while the seller is missing.
      const missing = items.filter((item) => liveAt(item) === undefined);
      await putAll(table, missing);
    }
  }
};

/** Whether the seller was suspended when it was lost. Nothing else of it is known. */
const statusOf = (old: StoredItem, audit: readonly NewAuditRecord[]): unknown => {
  const last = audit.findLast(({ action }) => /^seller\.(?:suspended|resumed)$/.test(action));
  if (last === undefined) return old.status;
  return last.action === 'seller.suspended' ? 'suspended' : 'active';
};

/** Puts a seller that is missing, with the counts that its items allow. */
const restoreMissing = async (run: Restoring, old: StoredItem, { all }: Audit): Promise<State[]> => {
  const { admin, table, isCopy, write, put } = run;
  if (!isCopy) return ['missing'];
  const sellerId = String(old.seller_id);
  await copyRemovals(run, sellerId);
  const least = await readLeastCounts(table, sellerId);
  const { users, events } = countsFrom(old);
  const { highestOrdinal } = await readEvents(table, sellerId, { after: events, until: events });
  const seller = {
    ...old,
    status: statusOf(old, all),
    user_count: Math.max(users, least.user_count, highestOrdinal),
    removed_count: least.removed_count,
    event_count: Math.max(events, least.event_count) + EVENTS_AHEAD,
  };
  await write([put(seller)], admin.record({ action: 'seller.restored', seller_id: sellerId }));
  return ['copied'];
};

/** What changes with users, or with a flush of the authorizer cache. */
const OF_OTHERS = ['user_count', 'removed_count', 'event_count', 'unflushed_since'];

const ownOf = (seller: StoredItem): StoredItem =>
  Object.fromEntries(Object.entries(seller).filter(([name]) => !OF_OTHERS.includes(name)));

/** Sets counts if no user has changed since `event_count` was read. An overwritten seller may have none. */
const raisedIfUnchanged = (counts: Readonly<Record<string, number>>, event_count: unknown) =>
  event_count === undefined
    ? {
        ...setting(counts),
        ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(#event_count)',
      }
    : settingIfEqual(counts, ['event_count', event_count]);

/**
 * Compares a seller that exists, and raises its counts if they are too low: the next user would get the place of another. Undefined: it is
 * missing.
 */
const restorePresent = async (
  run: Restoring,
  old: StoredItem,
  audit: Audit,
): Promise<State[] | undefined> => {
  const { table, isCopy, write } = run;
  const Key = sellerKey(String(old.seller_id));
  // Read before the counts, which a change raises together with the items.
  const least = await readLeastCounts(table, String(old.seller_id));
  const live = await getItem(table, Key);
  if (live === undefined) return undefined;
  const isChanged = audit.added.some(({ action }) => CHANGES.test(action));
  const isSame = isDeepStrictEqual(ownOf(old), ownOf(live));
  const states: State[] = isSame ? [] : [isChanged ? 'changed' : 'differs'];
  const counts = Object.entries(least).map(
    ([name, count]) => [name, Math.max(count, Number(old[name]), Number(live[name]) || 0)] as const,
  );
  if (counts.every(([name, count]) => live[name] === count)) return states;
  if (!isCopy) return [...states, 'counts_low'];
  const raised = raisedIfUnchanged(Object.fromEntries(counts), live.event_count);
  if (await write([{ Update: { TableName: table.name, Key, ...raised } }]))
    return [...states, 'counts_raised'];
  return restorePresent(run, old, audit);
};

/** Compares the entry of a seller in the list of all sellers, and puts it if it is missing. */
const restoreEntry = async (
  { table, isCopy, write, put }: Restoring,
  { seller_id, created_at }: StoredItem,
): Promise<State[]> => {
  const entry = { ...sellerListKey(String(created_at), String(seller_id)) };
  if ((await getItem(table, entry)) !== undefined) return [];
  if (isCopy) await write([put(entry)]);
  return [isCopy ? 'completed' : 'incomplete'];
};

/** Compares a seller of the restored table, and copies what is missing of it. */
export const restoreSeller = async (run: Restoring, sellerId: string, audit: Audit): Promise<SellerRun> => {
  const { table, source, report } = run;
  const old = (await getItem(source, sellerKey(sellerId))) ?? {};
  const states = (await restorePresent(run, old, audit)) ?? (await restoreMissing(run, old, audit));
  const isBack = states.some((state) => state === 'missing' || state === 'copied');
  const entry = await restoreEntry(run, old);
  // Whichever run brought it back.
  const isUnknown = isBack || audit.added.some(({ action }) => action === 'seller.restored');
  const unknown = isUnknown ? (['removals_unknown'] as const) : [];
  for (const state of [...states, ...(isBack ? [] : entry), ...unknown]) {
    report.add({ kind: 'seller', state, sellerId, id: sellerId });
  }
  const readSince = async (): Promise<Events> => {
    const { events: after } = countsFrom(old);
    const { events: until } = countsFrom(await getItem(table, sellerKey(sellerId), 'event_count'));
    return readEvents(table, sellerId, { after, until: isUnknown ? after : until });
  };
  let since: Promise<Events> | undefined;
  const eventsSince = (): Promise<Events> => {
    since ??= readSince();
    return since;
  };
  return { ...run, sellerId, audit, eventsSince };
};
