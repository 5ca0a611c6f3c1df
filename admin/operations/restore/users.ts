/** The users of one seller in a restore. A missing one comes back with an event, by a transaction that no change of the seller precedes. */
import { pacer } from '#admin/stores/batches.ts';
import { readItems } from '#admin/stores/restored-items.ts';
import { eventPut } from '#shared/events/event.ts';
import { settingIfEqual } from '#shared/table/conditions.ts';
import { sellerKey } from '#shared/table/keys.ts';
import { getItem } from '#shared/table/reads.ts';
import type { StoredItem, TransactItem } from '#shared/table/writes.ts';
import { countsFrom } from '#shared/users/user-change.ts';
import {
  type DecidedUser,
  decideMissingUser,
  decidePresentUser,
  userKeys,
  withoutTwice,
} from './decisions.ts';
import type { GroupKind } from './groups.ts';
import { putsOf, type Run } from './run.ts';
import type { RestoredSeller } from './sellers.ts';

/** A transaction holds 100 items: that of the seller, and at most five of each user. */
const USERS_AT_ONCE = 19;

/**
 * How many users of a segment are read and copied in a second. The users of a seller share a partition, which reads 3,000 and writes 1,000
 * units a second, and a transaction writes two for each item: this leaves two thirds of the reads and 440 writes to the live traffic.
 */
const READ_PER_SECOND = 1000;
const COPIED_PER_SECOND = 280;

/** The pace of the users of one segment. */
export const userPace = () => {
  const [reads, copies] = [pacer(READ_PER_SECOND), pacer(COPIED_PER_SECOND)];
  return (users: number, copied: number): number => {
    const nowMs = performance.now();
    return Math.max(reads(users, nowMs), copies(copied, nowMs));
  };
};

/** Reads what the live table has of some users of a seller, and decides on each. */
const decideUsers = async (
  { table, erasures }: Run,
  { sellerId, areCountsLow, eventsSince }: RestoredSeller,
  olds: readonly StoredItem[],
): Promise<readonly DecidedUser[]> => {
  const liveAt = await readItems(table, olds);
  const keys = olds.flatMap((old) => userKeys(sellerId, old, liveAt(old)));
  const at = await readItems(table, keys);
  const decisions: DecidedUser[] = [];
  for (const old of olds) {
    const live = liveAt(old);
    const facts = { sellerId, erasures, areCountsLow };
    const decision =
      live === undefined
        ? decideMissingUser({ ...facts, events: await eventsSince() }, old, at)
        : decidePresentUser(facts, { old, live }, at);
    decisions.push({ id: old.id, ...decision });
  }
  return withoutTwice(decisions);
};

/**
 * Returns the writes for some users. Each that was missing comes back with an event, numbered from `eventCount` on, under the condition that
 * no change of the seller came since that was read.
 */
const userPuts = (
  { admin, table }: Run,
  { sellerId, eventCount }: { readonly sellerId: string; readonly eventCount: number },
  decisions: readonly DecidedUser[],
): TransactItem[] => {
  const occurredAt = admin.now();
  const items: TransactItem[] = [];
  let linked = 0;
  for (const { user, puts = [], unchanged } of decisions) {
    if (user === undefined) {
      items.push(...putsOf(table, { puts, unchanged }));
      continue;
    }
    linked += 1;
    const last_event = eventCount + linked;
    const event = { type: 'user.linked', reason: 'restore', userId: String(user.id), occurredAt } as const;
    items.push(eventPut(table, sellerId, last_event, event));
    items.push(...putsOf(table, { puts: [{ ...user, last_event }, ...puts] }));
  }
  if (linked === 0) return items;
  const raised = settingIfEqual({ event_count: eventCount + linked }, ['event_count', eventCount]);
  return [{ Update: { TableName: table.name, Key: sellerKey(sellerId), ...raised } }, ...items];
};

/** The users of one seller, with what points to them. */
export const usersOf = (
  run: Run,
  seller: RestoredSeller,
  paceMs: ReturnType<typeof userPace>,
): GroupKind => ({
  kind: 'user',
  atOnce: USERS_AT_ONCE,
  paceMs,
  async look(olds) {
    const { sellerId } = seller;
    // Read first: the condition of the write notices whatever changes after it.
    const live = run.isCopy ? await getItem(run.table, sellerKey(sellerId), 'event_count') : undefined;
    const decisions = await decideUsers(run, seller, olds);
    return {
      found: decisions.map((decision) => ({ sellerId, ...decision })),
      items: userPuts(run, { sellerId, eventCount: countsFrom(live).events }, decisions),
    };
  },
});
