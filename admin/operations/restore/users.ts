/** The users of one seller in a restore: what is missing is written beside traffic, by transactions that no change of the seller precedes. */
import { removeUser } from '#admin/operations/remove-user.ts';
import { type EventsAfter, readItems } from '#admin/stores/restored-items.ts';
import { transact } from '#admin/stores/transactions.ts';
import { eventPut, type UserEvent } from '#shared/events/event.ts';
import { retryUntil } from '#shared/table/backoff.ts';
import { ifEqual, settingIfEqual } from '#shared/table/conditions.ts';
import { type ItemKey, removalBlockKey, sellerKey, tombstoneKey, userKey } from '#shared/table/keys.ts';
import { chunksOf, getItem } from '#shared/table/reads.ts';
import type { StoredItem, TransactItem } from '#shared/table/writes.ts';
import { blockOf, isRemovedIn } from '#shared/users/removals.ts';
import { countsFrom, type SellerCounts } from '#shared/users/user-change.ts';
import { ordinalOf } from '#shared/users/user-id.ts';
import type { Restoring } from './restoring.ts';
import {
  type ListedReason,
  planOf,
  pointerKeys,
  refusalKeys,
  type UserPlan,
  type UserState,
  userNamedIn,
  type WantedUser,
  wantedUser,
} from './rules.ts';

/** Ordinals that are read at once. */
const WINDOW = 400;

/** A transaction holds 100 items: that of the seller, and at most five of each user. */
const USERS_AT_ONCE = 16;

/** How long one transaction is tried again beside the changes of a busy seller. */
const TIMEOUT_MS = 60_000;

/** A seller whose users are restored. `live`: its item now, or the one that a dry run would write. */
export interface SellerToRestore {
  readonly sellerId: string;
  readonly old: StoredItem;
  readonly live: StoredItem;
  readonly events: EventsAfter;
}

/** First what is derived from users as they are, then damaged users, then missing ones: nothing is taken from a user that has it. */
const PASSES = [undefined, 'user.updated', 'user.linked'] as const;

/** The ordinals to decide on, and which of their users: those with this event. */
interface Task {
  readonly ordinals: readonly number[];
  readonly event: (typeof PASSES)[number];
}

/** What is to be done for some ordinals, by the counts of the seller before everything else was read. */
interface Decision {
  readonly counts: SellerCounts;
  readonly plans: readonly UserPlan[];
  readonly listed: readonly (readonly [ListedReason, string])[];
  /** Users whom an erasure did not find, because the damage had taken their phone links. */
  readonly hidden: readonly string[];
}

/** Reads the states of ordinals from both tables. */
const readStates = async (
  { admin: { table }, source }: Restoring,
  { sellerId, events }: SellerToRestore,
  ordinals: readonly number[],
): Promise<UserState[]> => {
  const keysOf = (ordinal: number) => ({
    user: userKey(sellerId, ordinal),
    tombstone: tombstoneKey(sellerId, ordinal),
    block: removalBlockKey(sellerId, blockOf(ordinal)),
  });
  const [oldAt, liveAt] = await Promise.all([
    readItems(
      source,
      ordinals.map((ordinal) => keysOf(ordinal).user),
    ),
    readItems(
      table,
      ordinals.flatMap((ordinal) => Object.values(keysOf(ordinal))),
    ),
  ]);
  return ordinals.map((ordinal) => {
    const { user, tombstone, block } = keysOf(ordinal);
    const bitmap = liveAt(block)?.removed_ordinals as Uint8Array | undefined;
    return {
      ordinal,
      old: oldAt(user),
      live: liveAt(user),
      isRemoved: liveAt(tombstone) !== undefined || isRemovedIn(bitmap, ordinal),
      lastEventOf: events.lastOf,
      expiredEvents: events.expired(),
    };
  });
};

/**
 * Reads the items that are derived from users, and the users that they name: as they are to be, if they are not missing. What a damaged
 * user holds is free for one that is as it should be (`event` undefined).
 */
const readPointers = async (
  restoring: Restoring,
  seller: SellerToRestore,
  { users, event }: { readonly users: readonly StoredItem[]; readonly event: Task['event'] },
) => {
  const keys = users.flatMap((user): ItemKey[] => [
    ...Object.values(pointerKeys(seller.sellerId, user)),
    ...refusalKeys(seller.sellerId, user),
  ]);
  const itemAt = await readItems(restoring.admin.table, keys);
  const ordinals = new Set(keys.flatMap((key) => ordinalOf(userNamedIn(itemAt(key))) ?? []));
  const holders = new Map<string, StoredItem>();
  for (const state of await readStates(restoring, seller, [...ordinals])) {
    const wanted = wantedUser(state);
    const user = wanted !== undefined && 'user' in wanted ? wanted.user : state.live;
    const isDamaged = wanted !== undefined && 'event' in wanted;
    if (state.live !== undefined && user !== undefined && !(isDamaged && event === undefined)) {
      holders.set(String(user.id), user);
    }
  }
  return { itemAt, userOf: (userId: string) => holders.get(userId) };
};

/** Decides on ordinals. Whatever changes after its first read is noticed by the condition of the write. */
const decide = async (restoring: Restoring, seller: SellerToRestore, task: Task): Promise<Decision> => {
  const { admin, erasures, isDry } = restoring;
  const { sellerId, events } = seller;
  const counts = countsFrom(isDry ? seller.live : await getItem(admin.table, sellerKey(sellerId)));
  await events.readTo(counts.events);
  const listed: [ListedReason, string][] = [];
  const hidden: string[] = [];
  const wantedUsers: WantedUser[] = [];
  const isLast = task.event === 'user.linked';
  for (const state of await readStates(restoring, seller, task.ordinals)) {
    const wanted = wantedUser(state);
    const newId = events.idAt(state.ordinal);
    if (wanted === undefined) {
      const isLost = !state.isRemoved && newId !== undefined && events.lastOf(newId)?.isRemoval === false;
      if (isLost && isLast) listed.push(['lost', newId]);
    } else if (!('user' in wanted)) {
      if (isLast) listed.push([wanted.listed, String(state.old?.id)]);
    } else {
      const isErased = state.old !== undefined && erasures.hasPhone(wanted.user.phone_hash);
      if (isErased && isLast && wanted.event !== 'user.linked') hidden.push(String(wanted.user.id));
      else if (!(isErased && isLast) && wanted.event === task.event) wantedUsers.push(wanted);
    }
  }
  const users = wantedUsers.map(({ user }) => user);
  const pointers = await readPointers(restoring, seller, { users, event: task.event });
  const plans = wantedUsers.flatMap((wanted): UserPlan[] => {
    const plan = planOf(sellerId, wanted, pointers);
    if (plan.listed !== undefined) listed.push([plan.listed, String(wanted.user.id)]);
    return 'user' in plan && (plan.event !== undefined || plan.puts.length > 0) ? [plan] : [];
  });
  return { counts, plans, listed, hidden };
};

const eventOf = ({ user, event }: UserPlan, occurredAt: string): UserEvent => {
  const about = { userId: String(user.id), occurredAt };
  return event === 'user.linked'
    ? { ...about, type: 'user.linked', reason: 'restore' }
    : { ...about, type: 'user.updated' };
};

/** Writes what was decided, in one transaction with the counts and the events. False: a user of the seller has changed since. */
const write = (
  { admin: { table, now } }: Restoring,
  sellerId: string,
  { counts, plans }: Decision,
): Promise<boolean> => {
  const { name: TableName } = table;
  const changed = plans.filter(({ event }) => event !== undefined);
  const changes = changed.flatMap((plan, index): TransactItem[] => {
    const sequence = counts.events + index + 1;
    const Item = { ...plan.user, last_event: sequence };
    return [eventPut(table, sellerId, sequence, eventOf(plan, now())), { Put: { TableName, Item } }];
  });
  const isUnchanged = ['event_count', counts.events] as const;
  const raised = {
    event_count: counts.events + changed.length,
    user_count: Math.max(counts.users, ...changed.map(({ user }) => Number(user.sk))),
  };
  const about = { TableName, Key: sellerKey(sellerId) };
  const seller: TransactItem =
    changed.length === 0
      ? { ConditionCheck: { ...about, ...ifEqual(...isUnchanged) } }
      : { Update: { ...about, ...settingIfEqual(raised, isUnchanged) } };
  const puts = plans.flatMap((plan) => plan.puts.map((Item): TransactItem => ({ Put: { TableName, Item } })));
  return transact(table, [seller, ...changes, ...puts]);
};

const NAMES = { 'user.linked': 'users', 'user.updated': 'users put back' } as const;

const reportOn = ({ report }: Restoring, sellerId: string, { plans, listed }: Decision): void => {
  for (const { event } of plans) report.count(event === undefined ? 'users completed' : NAMES[event]);
  for (const [reason, id] of listed) report.list(reason, id, sellerId);
};

/** Removes users of buyers who were erased. */
const eraseAgain = async (
  { admin, report, isDry }: Restoring,
  sellerId: string,
  userIds: readonly string[],
) => {
  report.count('users erased again', userIds.length);
  if (isDry) return;
  for (const userId of userIds) await removeUser(admin, { sellerId, userId, reason: 'erasure' });
};

/** Restores some users. Those whose buyer was erased beside it are removed again: the erasure may have looked before they were there. */
const restoreSome = async (restoring: Restoring, seller: SellerToRestore, task: Task): Promise<void> => {
  const { sellerId } = seller;
  const made = await retryUntil(performance.now() + TIMEOUT_MS, async () => {
    const decision = await decide(restoring, seller, task);
    const isDone = decision.plans.length === 0 || (await write(restoring, sellerId, decision));
    return isDone ? decision : undefined;
  });
  reportOn(restoring, sellerId, made);
  const erasedMeanwhile = await restoring.erasures.refresh();
  const erased = made.plans.filter(({ user }) => erasedMeanwhile.has(String(user.phone_hash)));
  const ids = erased.map(({ user }) => String(user.id));
  await eraseAgain(restoring, sellerId, ids);
};

/** Returns the highest ordinal of a seller's users, now or before. */
export const lastOrdinalOf = ({ live, old }: SellerToRestore): number =>
  Math.max(countsFrom(live).users, countsFrom(old).users);

/** Restores the users of a seller, oldest first. `onUsers` receives numbers of users that are done. */
export const restoreUsers = async (
  restoring: Restoring,
  seller: SellerToRestore,
  onUsers: (users: number) => void,
): Promise<void> => {
  const all = Array.from({ length: lastOrdinalOf(seller) }, (_, index) => index + 1);
  for (const event of PASSES) {
    for (const ordinals of chunksOf(all, WINDOW)) {
      restoring.signal?.throwIfAborted();
      const decision = await decide(restoring, seller, { ordinals, event });
      const open = restoring.isDry ? [] : decision.plans.map(({ user }) => Number(user.sk));
      const isOpen = new Set(decision.plans.map(({ user }) => String(user.id)));
      const listed = decision.listed.filter(([, id]) => restoring.isDry || !isOpen.has(id));
      reportOn(restoring, seller.sellerId, {
        ...decision,
        plans: restoring.isDry ? decision.plans : [],
        listed,
      });
      for (const some of chunksOf(open, USERS_AT_ONCE)) {
        await restoreSome(restoring, seller, { ordinals: some, event });
      }
      await eraseAgain(restoring, seller.sellerId, decision.hidden);
      onUsers(ordinals.length / PASSES.length);
    }
  }
};
