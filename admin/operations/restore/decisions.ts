/** What becomes of a user or a registration of the restored table, by what the live table has. Pure functions. */
import { isDeepStrictEqual } from 'node:util';
import type { Erasures, ItemAt, RemovalsSince } from '#admin/stores/restored-items.ts';
import {
  buyerKey,
  endedLinkKey,
  externalIdKey,
  type ItemKey,
  personKey,
  phoneLinkKey,
  removalBlockKey,
  removalSummaryKey,
  sellerKey,
  tombstoneKey,
  userKey,
} from '#shared/table/keys.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { blockOf, isRemovedIn } from '#shared/users/removals.ts';
import { countsFrom } from '#shared/users/user-change.ts';
import { ordinalOf } from '#shared/users/user-id.ts';
import { personItem } from '#shared/users/user-item.ts';
import { parseBirthDate } from '#shared/values/birth-date.ts';

/** Every result of a copy, with a sentence that fits a line of a terminal. */
export const RESULTS = {
  missing: 'A copy puts it back.',
  copied: 'It is back.',
  removed: 'It was removed since. Stays away.',
  ended: 'The buyer has ended the link since. Stays away, and the link stays ended.',
  erased: 'The buyer was erased since. Stays away.',
  not_erased: 'The buyer was erased since, but this is there. Erase or remove it.',
  linked_again: 'The person is linked again, as another user. Stays away.',
  taken: 'Another user has its place or external id, or it has changed. Not copied.',
  removal_unknown: 'Events since are missing, so it may have been removed. Not copied.',
  seller_missing: 'Its seller is missing, or has too low counts. Not copied.',
  damaged: 'It is damaged in the restored table. Not copied.',
} as const;

export type Result = keyof typeof RESULTS;

/** What is written for a user that the live table lacks. */
export interface UserDecision {
  readonly result: Result;
  /** Missing items: those that point to the user, or those of the ended link. */
  readonly puts?: readonly StoredItem[];
  /** The item of the ended link that exists. It must still be the same. */
  readonly unchanged?: StoredItem | undefined;
  /** Items that point to a user that never comes back. */
  readonly deletes?: readonly StoredItem[];
  /** The user never comes back and its removal was not counted: its place becomes a tombstone, which keeps total and pages right. */
  readonly closesPlace?: boolean;
}

/** Returns the items that point to a user: the person, the phone link and, if it has one, the external id. */
export const pointersOf = (sellerId: string, user: StoredItem): StoredItem[] => {
  const { id: user_id, sk, phone_hash, external_id } = user;
  const birthDay = String(parseBirthDate(String(user.birth_date))?.isoDay);
  const externalIds = external_id === undefined ? [] : [externalIdKey(sellerId, String(external_id))];
  const keys = [phoneLinkKey(String(phone_hash), sellerId, Number(sk)), ...externalIds];
  return [personItem(sellerId, user, birthDay), ...keys.map((key) => ({ ...key, user_id }))];
};

const endedKeyOf = (sellerId: string, { phone_hash, person_hash }: StoredItem): ItemKey =>
  endedLinkKey(String(phone_hash), sellerId, String(person_hash));

/** Returns the keys of all items of the live table that decide on a user. */
export const keysOf = (sellerId: string, old: StoredItem): readonly (ItemKey | StoredItem)[] => {
  const ordinal = Number(old.sk);
  return [
    sellerKey(sellerId),
    userKey(sellerId, ordinal),
    ...pointersOf(sellerId, old),
    endedKeyOf(sellerId, old),
    tombstoneKey(sellerId, ordinal),
    removalBlockKey(sellerId, blockOf(ordinal)),
    removalSummaryKey(sellerId),
  ];
};

/** Decides on a user whose place is not empty. */
export const decidePresentUser = (
  { phones }: Erasures,
  old: StoredItem,
  live: StoredItem,
): Result | undefined => {
  if (live.id !== old.id) return 'taken';
  // With another phone since, it is not a user of the buyer who was erased.
  return [old, live].every(({ phone_hash }) => phones.has(phone_hash)) ? 'not_erased' : undefined;
};

/** The end by the buyer that keeps a user away. Either of its two items shows it, or without both the event. */
const endOf = (
  sellerId: string,
  old: StoredItem,
  { at, removals }: { readonly at: ItemAt; readonly removals: RemovalsSince },
): Omit<UserDecision, 'result'> | undefined => {
  const keys = { person: personKey(sellerId, String(old.person_hash)), link: endedKeyOf(sellerId, old) };
  const [person, link] = [at(keys.person), at(keys.link)];
  // A later link of the person: a sign-in has lifted the end.
  if (person?.user_id !== undefined && person.user_id !== old.id) return undefined;
  const removal = removals.byUser.get(old.id);
  const endedAt = removal?.reason === 'buyer' ? Math.floor(Date.parse(removal.at) / 1000) : undefined;
  const refused_at = person?.refused_at ?? link?.refused_at ?? endedAt;
  if (refused_at === undefined) return undefined;
  const about = { phone_hash: person?.phone_hash ?? old.phone_hash, refused_at };
  const puts: StoredItem[] = person === undefined ? [{ ...keys.person, ...about }] : [];
  // If the buyer ended it with another phone, the other item is there.
  if (link === undefined && about.phone_hash === old.phone_hash) puts.push({ ...keys.link, ...about });
  return { puts, unchanged: puts.length === 0 ? undefined : (person ?? link), deletes: [] };
};

/** What is known of a user beside its items. */
export interface UserFacts {
  readonly sellerId: string;
  readonly erasures: Erasures;
  readonly removals: RemovalsSince;
}

/** Whether the user can be read by its id, and found by its person and its phone. */
const isWhole = ({ id, sk, birth_date, person_hash, phone_hash }: StoredItem): boolean =>
  ordinalOf(String(id)) === Number(sk) &&
  parseBirthDate(String(birth_date)) !== undefined &&
  [person_hash, phone_hash].every((hash) => typeof hash === 'string');

/** Decides on a user that the live table lacks. `at` finds the items of `keysOf`. */
export const decideMissingUser = (
  { sellerId, erasures, removals }: UserFacts,
  old: StoredItem,
  at: ItemAt,
): UserDecision => {
  if (!isWhole(old)) return { result: 'damaged' };
  const [seller, ordinal] = [at(sellerKey(sellerId)), Number(old.sk)];
  const { users, events } = countsFrom(seller);
  if (seller === undefined || users < ordinal || events < removals.newest) {
    return { result: 'seller_missing' };
  }
  const pointers = pointersOf(sellerId, old);
  const bitmap = at(removalBlockKey(sellerId, blockOf(ordinal)))?.removed_ordinals as Uint8Array | undefined;
  const hasTombstone = at(tombstoneKey(sellerId, ordinal)) !== undefined;
  const isRemoved = hasTombstone || isRemovedIn(bitmap, ordinal) || removals.byUser.has(old.id);
  const forGood = (result: Result, writes?: Omit<UserDecision, 'result'>): UserDecision => {
    if (isRemoved || !removals.isComplete) return { result, ...writes };
    const deletes = pointers.filter((item) => at(item)?.user_id === old.id);
    return { result, deletes, ...writes, closesPlace: true };
  };
  if (erasures.phones.has(old.phone_hash)) return forGood(isRemoved ? 'removed' : 'erased');
  const end = endOf(sellerId, old, { at, removals });
  if (end !== undefined) return forGood('ended', end);
  if (isRemoved) return { result: 'removed' };
  const person = at(personKey(sellerId, String(old.person_hash)));
  if (person !== undefined && person.user_id !== old.id) return forGood('linked_again');
  if (pointers.some((item) => !isDeepStrictEqual(at(item) ?? item, item))) return { result: 'taken' };
  if (!removals.isComplete) return { result: 'removal_unknown' };
  return { result: 'missing', puts: pointers.filter((item) => at(item) === undefined) };
};

/** Decides on a registration. One from after an erasure is another item. */
export const decideBuyer = (
  { phones, buyers }: Erasures,
  old: StoredItem,
  live: StoredItem | undefined,
): Result | undefined => {
  const isErased = phones.has(String(old.pk).slice(buyerKey('').pk.length));
  if (live !== undefined) return isErased && isDeepStrictEqual(old, live) ? 'not_erased' : undefined;
  if (isErased) return 'erased';
  return buyers.has(old.buyer_id) ? 'removed' : 'missing';
};
