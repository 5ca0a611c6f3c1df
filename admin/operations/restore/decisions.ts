/**
 * Decides on one group of items of the restored table, by what the live table has of it: whether it is missing, why it stays away, or that it
 * differs. Pure functions.
 */
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import type { Audit, Erasures, Events, ItemAt, LeastCounts } from '#admin/stores/restored-items.ts';
import { apiKeySchema } from '#shared/api-keys/api-key-item.ts';
import {
  buyerKey,
  endedLinkKey,
  externalIdKey,
  keyIdKey,
  personKey,
  phoneLinkKey,
  phoneLinksPartition,
  removalBlockKey,
  sellerListKey,
  tombstoneKey,
} from '#shared/table/keys.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { blockOf, isRemovedIn } from '#shared/users/removals.ts';
import { ordinalOf } from '#shared/users/user-id.ts';
import { personItem } from '#shared/users/user-item.ts';
import { parseBirthDate } from '#shared/values/birth-date.ts';
import type { Finding, State } from './report.ts';

/** Without a state there is nothing to tell of the group. */
export interface Decision {
  readonly state?: State;
  /** What is missing of it, and comes back. */
  readonly puts?: readonly StoredItem[];
  /** A missing user, which comes back with an event. */
  readonly user?: StoredItem;
  /** The state of what was missing and is back, if it is not `copied`. */
  readonly afterwards?: State;
  /** What exists of it, and the attribute that must be as it was read. */
  readonly unchanged?: { readonly item: StoredItem; readonly attribute: string } | undefined;
}

/** A decision, and which group it is about. */
export type Decided = Decision & Pick<Finding, 'sellerId' | 'id'>;

/** Decides on the items that belong to an item that exists. */
const missingOf = (items: readonly StoredItem[], at: ItemAt, unchanged: Decision['unchanged']): Decision => {
  const puts = items.filter((item) => at(item) === undefined);
  return puts.length === 0 ? {} : { state: 'missing', puts, unchanged };
};

/**
 * Decides again on groups of which two would get the same item back, which no transaction does: the external id of a user that exists was that
 * of a missing one before. The one of which something exists comes first, and the other one stays away.
 */
export const withoutTwice = (decided: readonly Decided[]): readonly Decided[] => {
  const taken = new Set<string>();
  const isMissing = ({ unchanged }: Decision): number => Number(unchanged === undefined);
  return decided
    .toSorted((a, b) => isMissing(a) - isMissing(b))
    .map((decision) => {
      const keys = (decision.puts ?? []).map(({ pk, sk }) => `${pk} ${sk}`);
      const { sellerId, id } = decision;
      if (keys.some((key) => taken.has(key))) return { sellerId, id, state: 'taken' };
      for (const key of keys) taken.add(key);
      return decision;
    });
};

// Users. The user item is the truth; the person item, the phone link and the external id point to it.

/** Returns the items that point to a user: the person, the phone link and, if it has one, the external id. */
export const pointersOf = (sellerId: string, user: StoredItem): StoredItem[] => {
  const { id: user_id, sk, phone_hash, external_id } = user;
  const birthDay = String(parseBirthDate(String(user.birth_date))?.isoDay);
  const externalIds = external_id === undefined ? [] : [externalIdKey(sellerId, String(external_id))];
  const keys = [phoneLinkKey(String(phone_hash), sellerId, Number(sk)), ...externalIds];
  return [personItem(sellerId, user, birthDay), ...keys.map((key) => ({ ...key, user_id }))];
};

const refusalOf = (sellerId: string, { phone_hash, person_hash }: StoredItem) =>
  endedLinkKey(String(phone_hash), sellerId, String(person_hash));

/** Returns the keys of what decides on a user, besides the user itself. */
export const userKeys = (sellerId: string, old: StoredItem, live: StoredItem | undefined) => {
  if (live !== undefined) return pointersOf(sellerId, live);
  const ordinal = Number(old.sk);
  const removal = [tombstoneKey(sellerId, ordinal), removalBlockKey(sellerId, blockOf(ordinal))];
  return [...pointersOf(sellerId, old), refusalOf(sellerId, old), ...removal];
};

/** Whether the id of a user is one of its place. Otherwise it is damage. */
const hasOwnId = ({ id, sk }: StoredItem): boolean => ordinalOf(String(id)) === Number(sk);

/** What is known of a user beside its items. */
export interface UserFacts {
  readonly sellerId: string;
  readonly erasures: Erasures;
  /** Those of the seller since the restore point. */
  readonly events: Events;
  readonly areCountsLow: boolean;
}

/** Whether an item that points to the user is another one. */
const isAnyWrong = (pointers: readonly StoredItem[], at: ItemAt): boolean =>
  pointers.some((item) => !isDeepStrictEqual(at(item) ?? item, item));

/** `at` finds the items of `userKeys`. A change has a later event than that of the restored user. */
export const decidePresentUser = (
  { sellerId, erasures }: Pick<UserFacts, 'sellerId' | 'erasures'>,
  { old, live }: { readonly old: StoredItem; readonly live: StoredItem },
  at: ItemAt,
): Decision => {
  if (live.id !== old.id) return { state: hasOwnId(live) && hasOwnId(old) ? 'taken' : 'differs' };
  if ([old, live].every(({ phone_hash }) => erasures.phones.has(phone_hash))) return { state: 'not_erased' };
  const isSame = isDeepStrictEqual({ ...old, last_event: live.last_event }, live);
  const events = Number(live.last_event) - Number(old.last_event);
  const pointers = pointersOf(sellerId, live);
  if (!(isSame ? events >= 0 : events > 0) || isAnyWrong(pointers, at)) return { state: 'differs' };
  return missingOf(pointers, at, { item: live, attribute: 'last_event' });
};

/** `at` finds the items of `userKeys`. */
export const decideMissingUser = (
  { sellerId, erasures, events, areCountsLow }: UserFacts,
  old: StoredItem,
  at: ItemAt,
): Decision => {
  if (!hasOwnId(old)) return { state: 'differs' };
  const ordinal = Number(old.sk);
  const pointers = pointersOf(sellerId, old);
  const isErased = erasures.phones.has(old.phone_hash);
  if (isErased && pointers.some((item) => at(item)?.user_id === old.id)) return { state: 'not_erased' };
  const bitmap = at(removalBlockKey(sellerId, blockOf(ordinal)))?.removed_ordinals as Uint8Array | undefined;
  const isRemoved = at(tombstoneKey(sellerId, ordinal)) !== undefined || isRemovedIn(bitmap, ordinal);
  if (isRemoved || events.removed.has(old.id)) return { state: 'removed' };
  if (isErased) return { state: 'erased' };
  const person = at(personKey(sellerId, String(old.person_hash)));
  if (person?.refused_at !== undefined || at(refusalOf(sellerId, old)) !== undefined)
    return { state: 'refused' };
  if (pointers.some((item) => (at(item) ?? item).user_id !== old.id)) return { state: 'taken' };
  if (isAnyWrong(pointers, at)) return { state: 'differs' };
  if (!events.isComplete) return { state: 'may_be_removed' };
  if (areCountsLow) return { state: 'counts_low' };
  const puts = pointers.filter((item) => at(item) === undefined);
  return { state: events.updated.has(old.id) ? 'change_lost' : 'missing', user: old, puts };
};

// Buyers

/** Decides on a registration. After an erasure or a removal, another one in the live table is a registration of later. */
export const decideBuyer = (erasures: Erasures, old: StoredItem, at: ItemAt): Decision => {
  const live = at(old);
  const isErased = erasures.phones.has(String(old.pk).slice(buyerKey('').pk.length));
  const isRemoved = erasures.buyers.has(old.buyer_id);
  if (live === undefined) {
    if (isErased || isRemoved) return { state: isErased ? 'erased' : 'removed' };
    return { state: 'missing', puts: [old] };
  }
  if (isDeepStrictEqual(old, live)) return isErased ? { state: 'not_erased' } : {};
  return isErased || isRemoved ? {} : { state: 'differs' };
};

/** Returns the seller and the items of a refusal: that of the person, and that of the phone, from which the other follows. */
export const refusalItems = ({ pk, sk, refused_at }: StoredItem) => {
  const [, sellerId = '', personHash = ''] = String(sk).split('#');
  const about = { phone_hash: String(pk).slice(phoneLinksPartition('').length), refused_at };
  return {
    sellerId,
    items: [
      { ...personKey(sellerId, personHash), ...about },
      { pk, sk, ...about },
    ],
  };
};

/**
 * Decides on a refusal. An item of the person that holds a link or the refusal of another phone was written after it. If the sign-in that lifted
 * a refusal was followed by a removal, nothing tells it: the refusal comes back, and a sign-in at the seller lifts it again.
 */
export const decideRefusal = (erasures: Erasures, old: StoredItem, at: ItemAt): Decision => {
  const { items } = refusalItems(old);
  const [person, link] = items.map(at);
  if (erasures.phones.has(items[0]?.phone_hash)) {
    if (items.some((item) => isDeepStrictEqual(at(item), item))) return { state: 'not_erased' };
    return link === undefined ? { state: 'erased' } : {};
  }
  const isOfOther = person?.phone_hash !== items[0]?.phone_hash || person?.refused_at === undefined;
  if (person !== undefined && isOfOther) return { state: 'taken' };
  const left = person ?? link;
  if (left === undefined) return { state: 'missing', puts: items };
  const { refused_at } = left;
  const same = items.map((item) => ({ ...item, refused_at }));
  return missingOf(same, at, { item: left, attribute: 'refused_at' });
};

// Keys

/** The audit of a seller in the live table: all of it, and what was added since the restore point. */
type Records = Pick<Audit, 'all' | 'added'>;

const isSameKey = (
  { unflushed_since: _, ...old }: StoredItem,
  { unflushed_since: __, ...live }: StoredItem,
): boolean => isDeepStrictEqual(old, live);

/** Decides on a key. One that is missing comes back as pending, with `record`: nobody knows whether it was revoked since. */
export const decideKey = (
  { all, added }: Records,
  { old, record }: { readonly old: StoredItem; readonly record: StoredItem },
  at: ItemAt,
): Decision => {
  const { key_id, seller_id } = old;
  const live = at(old);
  const isAny = (records: Audit['all'], action: RegExp): boolean =>
    records.some((each) => each.key_id === key_id && action.test(each.action));
  const isRevoked = isAny(all, /^key\.(?:revoked|withdrawn)$/);
  const isChanged = isAny(added, /^key\./);
  const idItem = { ...keyIdKey(String(key_id)), seller_id };
  const isFound = at(idItem) !== undefined;
  if (live !== undefined) {
    if (live.status === 'active' && isRevoked) return { state: 'differs' };
    if (!v.is(apiKeySchema, live)) return { state: 'differs' };
    if (!isSameKey(old, live) && !isChanged) return { state: 'differs' };
    if (!isFound) return missingOf([idItem], at, { item: live, attribute: 'version' });
    return live.status === 'pending' && live.restored_at !== undefined ? { state: 'pending' } : {};
  }
  // A key that was revoked, or whose issue was not finished, is of no use.
  if (old.status !== 'active' && old.restored_at === undefined) return {};
  if (isRevoked) return { state: 'removed' };
  if (isAny(added, /^key\.rotated$/)) return { state: 'rotated' };
  const key = { ...old, status: 'pending', restored_at: record.at };
  const state = isChanged ? 'change_lost' : 'missing';
  return { state, afterwards: 'pending', puts: [key, record, ...(isFound ? [] : [idItem])] };
};

// Sellers

/**
 * A seller that comes back numbers its events on from so far above: more than it can have had since the restore point, so that no reader
 * takes a new event for one that it has read.
 */
const EVENTS_AHEAD = 1_000_000;

const areCountsLow = (seller: StoredItem, { removed_count = 0, ...least }: LeastCounts): boolean =>
  Object.entries({ removed_count, ...least }).some(([name, count]) => !(Number(seller[name]) >= count));

/** What changes with users, or with a flush of the authorizer cache. */
const OF_OTHERS = ['user_count', 'removed_count', 'event_count', 'unflushed_since'];

const ownOf = (seller: StoredItem): StoredItem =>
  Object.fromEntries(Object.entries(seller).filter(([name]) => !OF_OTHERS.includes(name)));

const CHANGES = /^seller\.(?:suspended|resumed|renamed|templates_set)$/;

/** Whether the seller was suspended when it was lost. Nothing else of it is known. */
const statusOf = (old: StoredItem, audit: Audit['all']): unknown => {
  const last = audit.findLast(({ action }) => /^seller\.(?:suspended|resumed)$/.test(action));
  if (last === undefined) return old.status;
  return last.action === 'seller.suspended' ? 'suspended' : 'active';
};

export const sellerEntry = ({ created_at, seller_id }: StoredItem) =>
  sellerListKey(String(created_at), String(seller_id));

/**
 * Decides on a seller with its entry in the list of all sellers. One that is missing gets the counts that its items allow. `hasRemovals`: the
 * live table has all that the restored one has of the index of removals.
 */
export const decideSeller = (
  { audit, least, hasRemovals }: { audit: Records; least: LeastCounts; hasRemovals: boolean },
  old: StoredItem,
  at: ItemAt,
): Decision => {
  const [live, entry] = [at(old), { ...sellerEntry(old) }];
  const puts = at(entry) === undefined ? [entry] : [];
  if (live === undefined) {
    const seller = {
      ...old,
      status: statusOf(old, audit.all),
      user_count: Math.max(Number(old.user_count), least.user_count),
      removed_count: least.removed_count ?? old.removed_count,
      event_count: Math.max(Number(old.event_count), least.event_count) + EVENTS_AHEAD,
    };
    return { state: 'missing', puts: [seller, ...puts] };
  }
  if (areCountsLow(live, least)) return { state: 'counts_low' };
  const isChanged = audit.added.some(({ action }) => CHANGES.test(action));
  if (!hasRemovals || !(isChanged || isDeepStrictEqual(ownOf(old), ownOf(live)))) return { state: 'differs' };
  return puts.length === 0 ? {} : { state: 'missing', puts };
};
