/**
 * The users of one seller in a restore. The user item is the truth; the person item, the phone link and the external id are derived from
 * it. A missing user is put with its event by a transaction that no change of the seller precedes.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { removeUser } from '#admin/operations/users.ts';
import { pacer } from '#admin/stores/batches.ts';
import { type ItemAt, readItems } from '#admin/stores/restored-items.ts';
import { eventPut } from '#shared/events/event.ts';
import { pauseAfterConflict } from '#shared/table/backoff.ts';
import { ifEqual, settingIfEqual } from '#shared/table/conditions.ts';
import {
  externalIdKey,
  personKey,
  phoneLinkKey,
  refusalKey,
  removalBlockKey,
  sellerKey,
  tombstoneKey,
} from '#shared/table/keys.ts';
import { chunksOf, getItem } from '#shared/table/reads.ts';
import type { StoredItem, TransactItem } from '#shared/table/writes.ts';
import { blockOf, isRemovedIn } from '#shared/users/removals.ts';
import { countsFrom } from '#shared/users/user-change.ts';
import { ordinalOf } from '#shared/users/user-id.ts';
import { personItem } from '#shared/users/user-item.ts';
import { parseBirthDate } from '#shared/values/birth-date.ts';
import type { State } from './restoring.ts';
import type { SellerRun } from './sellers.ts';

/** A transaction holds 100 items: that of the seller, and at most five of each user. */
const COPIED_AT_ONCE = 19;

/** Users that are read at once: as many as fill whole transactions, and not more than a BatchGetItem takes. */
const READ_AT_ONCE = 5 * COPIED_AT_ONCE;

/**
 * How many users of a segment are read and copied in a second. The users of a seller share a partition, which reads 3,000 and writes 1,000
 * units a second, and a transaction writes two for each item: this leaves two thirds of the reads and 440 writes to the live traffic.
 */
const READ_PER_SECOND = 1000;
const COPIED_PER_SECOND = 280;

/** How long a transaction is tried again beside the changes of a busy seller. */
const TIMEOUT_MS = 60_000;

/** The pace of one segment. */
export const userPace = () => {
  const paces = { reads: pacer(READ_PER_SECOND), copies: pacer(COPIED_PER_SECOND) };
  return (work: keyof typeof paces, users: number): Promise<void> =>
    pause(paces[work](users, performance.now()));
};

export type UserPace = ReturnType<typeof userPace>;

/** Returns the items that are derived from a user: the person, the phone link and, if it has one, the external id. */
export const pointersOf = (sellerId: string, user: StoredItem): StoredItem[] => {
  const { id: user_id, sk, phone_hash, external_id } = user;
  const birthDay = String(parseBirthDate(String(user.birth_date))?.isoDay);
  const externalIds = external_id === undefined ? [] : [externalIdKey(sellerId, String(external_id))];
  const keys = [phoneLinkKey(String(phone_hash), sellerId, Number(sk)), ...externalIds];
  return [personItem(sellerId, user, birthDay), ...keys.map((key) => ({ ...key, user_id }))];
};

/** What the live table has of a user of the restored table. */
interface Comparison {
  readonly old: StoredItem;
  readonly states: readonly State[];
  /** The user as it is, or as it comes back. */
  readonly user?: StoredItem;
  /** What is missing of it. */
  readonly puts?: readonly StoredItem[];
  /** Nothing of the removal of an erased user is left, so counts and pages do not know of it. */
  readonly isPlaceOpen?: boolean;
}

const isRemoved = ({ sellerId }: SellerRun, { sk }: StoredItem, at: ItemAt): boolean => {
  const ordinal = Number(sk);
  const bitmap = at(removalBlockKey(sellerId, blockOf(ordinal)))?.removed_ordinals as Uint8Array | undefined;
  return at(tombstoneKey(sellerId, ordinal)) !== undefined || isRemovedIn(bitmap, ordinal);
};

const refusalOf = (sellerId: string, { phone_hash, person_hash }: StoredItem) =>
  refusalKey(String(phone_hash), sellerId, String(person_hash));

/** Whether the id of a user is one of its place. Otherwise it is damage. */
const hasOwnId = ({ id, sk }: StoredItem): boolean => ordinalOf(String(id)) === Number(sk);

/** Decides on a user that exists. */
const comparePresent = (
  { sellerId, erasures }: SellerRun,
  { old, live }: { readonly old: StoredItem; readonly live: StoredItem },
  at: ItemAt,
): Comparison => {
  if (!hasOwnId(live)) return { old, states: ['differs'] };
  if (live.id !== old.id) return { old, states: ['place_taken'] };
  if ([old, live].every(({ phone_hash }) => erasures.phones.has(phone_hash))) {
    return { old, states: ['erased_but_present'] };
  }
  const isSame = isDeepStrictEqual({ ...old, last_event: live.last_event }, live);
  const events = Number(live.last_event) - Number(old.last_event);
  // A change has a later event.
  if (!(isSame ? events >= 0 : events > 0)) return { old, states: ['differs'] };
  const pointers = pointersOf(sellerId, live);
  const puts = pointers.filter((item) => at(item) === undefined);
  const isWrong = pointers.some((item) => !isDeepStrictEqual(at(item) ?? item, item));
  const states: State[] = [
    ...(isSame ? [] : (['changed'] as const)),
    ...(isWrong ? (['pointers_differ'] as const) : []),
    ...(puts.length > 0 ? (['incomplete'] as const) : []),
  ];
  return { old, states, user: live, puts };
};

/** Decides on a user that is missing. Its first state is `missing` if it can come back. */
const compareMissing = async (seller: SellerRun, old: StoredItem, at: ItemAt): Promise<Comparison> => {
  const { sellerId, erasures } = seller;
  const only = (state: State, isPlaceOpen = false): Comparison => ({ old, states: [state], isPlaceOpen });
  if (!hasOwnId(old)) return only('differs');
  const isKnown = isRemoved(seller, old, at);
  const events = isKnown ? undefined : await seller.eventsSince();
  const isGone = isKnown || events?.removed.has(old.id) === true;
  if (erasures.phones.has(old.phone_hash)) return only('erased', !isGone);
  if (isGone) return only('removed');
  const person = at(personKey(sellerId, String(old.person_hash)));
  if (person?.refused_at !== undefined || at(refusalOf(sellerId, old)) !== undefined) return only('refused');
  if (person !== undefined && person.user_id !== old.id) return only('person_taken');
  if (!events?.isComplete) return only('may_be_removed');
  const { external_id, ...withoutExternalId } = old;
  const holder = at(externalIdKey(sellerId, String(external_id)));
  const isWithout = external_id !== undefined && holder !== undefined && holder.user_id !== old.id;
  const user = isWithout ? withoutExternalId : old;
  const pointers = pointersOf(sellerId, user);
  if (pointers.some((item) => !isDeepStrictEqual(at(item) ?? item, item))) return only('pointers_differ');
  const states: State[] = [
    'missing',
    ...(isWithout ? (['external_id_taken'] as const) : []),
    ...(events.updated.has(old.id) ? (['correction_lost'] as const) : []),
  ];
  return { old, states, user, puts: pointers.filter((item) => at(item) === undefined) };
};

/** Reads what the live table has of some users, and decides on each. */
const compareOnce = async (seller: SellerRun, olds: readonly StoredItem[]): Promise<Comparison[]> => {
  const { table, sellerId } = seller;
  const liveAt = await readItems(table, olds);
  const keysOf = (old: StoredItem) => {
    const live = liveAt(old);
    if (live !== undefined) return live.id === old.id ? pointersOf(sellerId, live) : [];
    const ordinal = Number(old.sk);
    const removal = [tombstoneKey(sellerId, ordinal), removalBlockKey(sellerId, blockOf(ordinal))];
    return [...pointersOf(sellerId, old), refusalOf(sellerId, old), ...removal];
  };
  const at = await readItems(table, olds.flatMap(keysOf));
  const comparisons: Comparison[] = [];
  for (const old of olds) {
    const live = liveAt(old);
    comparisons.push(
      live === undefined ? await compareMissing(seller, old, at) : comparePresent(seller, { old, live }, at),
    );
  }
  return comparisons;
};

const DOUBTFUL: readonly State[] = ['incomplete', 'pointers_differ'];

/** Decides on users, and a second time on those that exist and do not agree with what finds them: they may have changed between the reads. */
const compareAll = async (seller: SellerRun, olds: readonly StoredItem[]): Promise<Comparison[]> => {
  const comparisons = await compareOnce(seller, olds);
  const isDoubtful = ({ user, states }: Comparison): boolean =>
    user !== undefined && states.some((state) => DOUBTFUL.includes(state));
  const doubtful = comparisons.filter(isDoubtful).map(({ old }) => old);
  if (doubtful.length === 0) return comparisons;
  return [
    ...comparisons.filter((comparison) => !isDoubtful(comparison)),
    ...(await compareOnce(seller, doubtful)),
  ];
};

const isMissing = ({ states }: Comparison): boolean => states[0] === 'missing';

/** The users with their events and what finds them, and the number of the last event under the condition that it is as it was read. */
const copyItems = (
  { table, admin, sellerId, put }: SellerRun,
  eventCount: number,
  comparisons: readonly Comparison[],
): TransactItem[] => {
  const raised = settingIfEqual({ event_count: eventCount + comparisons.length }, [
    'event_count',
    eventCount,
  ]);
  const users = comparisons.flatMap(({ user, puts = [] }, index) => {
    const last_event = eventCount + index + 1;
    const about = { userId: String(user?.id), occurredAt: admin.now() };
    const event = eventPut(table, sellerId, last_event, { type: 'user.linked', reason: 'restore', ...about });
    return [event, ...[{ ...user, last_event }, ...puts].map(put)];
  });
  return [{ Update: { TableName: table.name, Key: sellerKey(sellerId), ...raised } }, ...users];
};

/** Puts some missing users back, and returns what became of each. */
const copyMissing = async (seller: SellerRun, olds: readonly StoredItem[]): Promise<Comparison[]> => {
  const deadlineMs = performance.now() + TIMEOUT_MS;
  for (let conflicts = 0; ; conflicts += 1) {
    // Read first: the condition of the write notices whatever changes after it.
    const { events } = countsFrom(await getItem(seller.table, sellerKey(seller.sellerId), 'event_count'));
    const comparisons = await compareAll(seller, olds);
    const missing = comparisons.filter(isMissing);
    if (missing.length === 0 || (await seller.write(copyItems(seller, events, missing))))
      return comparisons.map((comparison) =>
        isMissing(comparison)
          ? { ...comparison, states: ['copied', ...comparison.states.slice(1)] }
          : comparison,
      );
    await pauseAfterConflict(conflicts, deadlineMs);
  }
};

/** Puts what is missing of a user that exists, unless the user changes meanwhile: the next run looks at it again. */
const complete = async (
  { table, write, put }: SellerRun,
  comparison: Comparison & { readonly user: StoredItem },
): Promise<Comparison> => {
  const { user, puts = [], states } = comparison;
  const Key = { pk: user.pk, sk: user.sk };
  const unchanged = {
    ConditionCheck: { TableName: table.name, Key, ...ifEqual('last_event', user.last_event) },
  };
  if (!(await write([unchanged, ...puts.map(put)]))) return comparison;
  return { ...comparison, states: states.map((state) => (state === 'incomplete' ? 'completed' : state)) };
};

/**
 * Makes counts, pages and events know that an erased user is gone, although the table has lost it. What points to it goes first, since
 * after the removal no further run would look at it.
 */
const closePlace = async ({ admin, table, sellerId, write }: SellerRun, old: StoredItem): Promise<void> => {
  const { id, sk, phone_hash } = old;
  for (const { pk, sk } of pointersOf(sellerId, old)) {
    await write([{ Delete: { TableName: table.name, Key: { pk, sk }, ...ifEqual('user_id', id) } }]);
  }
  await removeUser(admin, { sellerId, userId: String(id), reason: 'erasure', lost: { id, sk, phone_hash } });
};

/** Copies what is missing of some users. Returns what became of each. */
const copy = async (
  seller: SellerRun,
  comparisons: readonly Comparison[],
  pace: UserPace,
): Promise<readonly Comparison[]> => {
  const done = comparisons.filter((comparison) => !isMissing(comparison));
  const results: Comparison[] = [];
  for (const comparison of done) {
    const { user, states, old, isPlaceOpen } = comparison;
    if (isPlaceOpen) await closePlace(seller, old);
    const isIncomplete = user !== undefined && states.includes('incomplete');
    results.push(isIncomplete ? await complete(seller, { ...comparison, user }) : comparison);
  }
  const missing = comparisons.filter(isMissing).map(({ old }) => old);
  for (const some of chunksOf(missing, COPIED_AT_ONCE)) {
    await pace('copies', some.length);
    results.push(...(await copyMissing(seller, some)));
  }
  return results;
};

/** Compares users of the restored table with the live table, and copies what is missing. */
export const restoreUsers = async (
  seller: SellerRun,
  olds: readonly StoredItem[],
  pace: UserPace,
): Promise<void> => {
  const { sellerId, report, isCopy, check } = seller;
  for (const some of chunksOf(olds, READ_AT_ONCE)) {
    check();
    await pace('reads', some.length);
    const comparisons = await compareAll(seller, some);
    for (const { old, states } of isCopy ? await copy(seller, comparisons, pace) : comparisons) {
      for (const state of states) report.add({ kind: 'user', state, sellerId, id: old.id });
    }
  }
};
