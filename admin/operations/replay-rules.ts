/** Which items of the old table count more than those of the restored one. */
import type { Seller } from '#admin/stores/seller-store.ts';
import { API_KEY_PREFIX, type ItemKey, sellerKey, TABLE_MARK } from '#shared/table/keys.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { ordinalOf } from '#shared/users/user-id.ts';

/** Returns the key of an item. */
export const keyOf = ({ pk, sk }: StoredItem): ItemKey => ({ pk: String(pk), sk: String(sk) });

/** The items of a linked user: the user, its person item, and its copies by phone and by external id. A restore is made for them and for the buyers. */
const USER_ITEMS = ['USERS#', 'PERSON#', 'LINKS#', 'EXTERNAL#'];

/** `KEY` names the keys of a seller, the others begin as the partition key of their items does. */
const NAMES: Readonly<Record<string, string>> = {
  SELLER: 'sellers',
  KEY: 'keys',
  SECRET: 'key secrets',
  AUDIT: 'audit records',
  USERS: 'users',
  BUYER: 'buyers',
};

/** Returns the plural of what an item holds, as replay prints it. */
export const nameOf = (item: StoredItem): string => {
  const { pk, sk } = keyOf(item);
  const kind = sk.startsWith(API_KEY_PREFIX) ? 'KEY' : pk.split('#')[0];
  return NAMES[String(kind)] ?? 'other items';
};

/** Returns whether an item is that of a seller. These are written last: until then an interrupted replay can be run again. */
export const isSeller = (item: StoredItem): boolean => item.sk === sellerKey('').sk;

/** Returns whether an item says that a user was removed. */
export const isTombstone = ({ removed_at }: StoredItem): boolean => removed_at !== undefined;

/** Returns whether an item is the copy of a user by its external id. */
export const isExternalId = ({ pk }: StoredItem): boolean => String(pk).startsWith('EXTERNAL#');

const isUserItem = (item: StoredItem): boolean =>
  USER_ITEMS.some((prefix) => String(item.pk).startsWith(prefix)) && !isTombstone(item);

/** Returns the seller of a user item or a tombstone. */
export const sellerIdOf = (item: StoredItem): string => {
  const { pk, sk } = keyOf(item);
  return String(pk.startsWith('LINKS#') ? sk.split('#')[0] : pk.split('#')[1]);
};

/**
 * Returns a function that says whether an item belongs to a user, or is the tombstone of one, who was linked before the restore point.
 * `restored`: the sellers of the restored table, which have their counts of that time.
 */
export const linkedBefore = (restored: readonly Seller[]) => {
  const lastOrdinals = new Map(restored.map(({ seller_id, user_count }) => [seller_id, user_count]));
  return (item: StoredItem): boolean => {
    const ordinal = ordinalOf(String(item.user_id ?? item.id)) ?? 0;
    return ordinal <= (lastOrdinals.get(sellerIdOf(item)) ?? 0);
  };
};

/**
 * Returns whether the item of the old table replaces that of the restored one. Only of the users who were linked before the restore point
 * the restored table has the right items.
 */
export const isCopied = (isLinkedBefore: (item: StoredItem) => boolean, item: StoredItem): boolean =>
  item.pk !== TABLE_MARK.pk && !isSeller(item) && !(isUserItem(item) && isLinkedBefore(item));

/** The seller of the old table. No count is lower than in the restored one, so no ordinal is given out twice. */
export const newestSeller = (old: StoredItem, restored: StoredItem | undefined): StoredItem => {
  const counts = Object.entries(old).filter(([name]) => name.endsWith('_count'));
  const highest = counts.map(([name, count]) => [
    name,
    Math.max(Number(count), Number(restored?.[name] ?? 0)),
  ]);
  return { ...old, ...Object.fromEntries(highest) };
};

/** The buyers that admins removed or erased, from the audit records of the old table. */
export interface RemovedBuyers {
  /** The time of the last removal of a buyer id. */
  readonly byId: ReadonlyMap<string, string>;
  /** The time of the last erasure of a keyed hash of a phone. */
  readonly byHash: ReadonlyMap<string, string>;
}

/** Returns the buyers that were removed, by the audit records of the deployment. */
export const removedBuyersIn = (records: readonly StoredItem[]): RemovedBuyers => {
  const byId = new Map<string, string>();
  const byHash = new Map<string, string>();
  for (const { at, action, details, phone_hashes } of records) {
    const time = String(at);
    if (action === 'buyer.removed') byId.set(String((details as StoredItem | undefined)?.buyer_id), time);
    for (const hash of (phone_hashes ?? []) as readonly string[]) byHash.set(hash, time);
  }
  return { byId, byHash };
};

/**
 * Returns whether an item of the restored table is deleted if the old table lacks it: a secret that a rotation dropped, a key whose issue
 * was withdrawn, codes, and what was removed or erased by an admin. Any other item was lost by the damage.
 */
export const isDeletedIfGone = (item: StoredItem, { byId, byHash }: RemovedBuyers): boolean => {
  const { pk, sk } = keyOf(item);
  const [kind, rest = ''] = pk.split('#');
  if (kind === 'SECRET' || kind === 'CODE') return true;
  if (sk.startsWith(API_KEY_PREFIX)) return item.status === 'pending';
  if (kind !== 'BUYER') return false;
  // A buyer who was erased can register again.
  const removedAt = [byId.get(String(item.buyer_id)), byHash.get(rest)].filter((time) => time !== undefined);
  return removedAt.some((time) => time > String(item.registered_at));
};
