import type { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import type { Table } from '#shared/table/client.ts';
import { sellerKey } from '#shared/table/keys.ts';
import { batchGet, itemOf } from '#shared/table/reads.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { readPhoneLinks, userKeyOf, usersOf } from '#shared/users/phone-links.ts';

export interface PhoneLink {
  readonly sellerId: string;
  readonly sellerName: string;
  readonly user: StoredItem;
}

/** Returns a function that reads the users with a phone over all sellers, the oldest first. */
export const phoneLinkReader =
  (table: Table) =>
  async (phone: KeyedHash): Promise<PhoneLink[]> => {
    const pointers = await readPhoneLinks(table, phone);
    const sellers = pointers.map(({ sellerId }) => sellerKey(sellerId));
    // A phone without links costs a call too, so that the time of a response does not tell whether it has some.
    const keys = pointers.length === 0 ? [sellerKey('')] : [...pointers.map(userKeyOf), ...sellers];
    const items = await batchGet(table, keys);
    const nameOf = (sellerId: string) => String(itemOf(items, sellerKey(sellerId))?.name);
    return usersOf(pointers, items, phone)
      .map(({ sellerId, user }) => ({ sellerId, sellerName: nameOf(sellerId), user }))
      .sort((a, b) => String(a.user.created_at).localeCompare(String(b.user.created_at)));
  };
