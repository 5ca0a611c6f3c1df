/** Finds users by phone. A phone can have links of many sellers, stored under its current hash and under older ones. */
import type { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import type { Table } from '#shared/table/client.ts';
import {
  type ItemKey,
  phoneLinkPrefix,
  phoneLinksPartition,
  sellerOfPhoneLink,
  userKey,
} from '#shared/table/keys.ts';
import { itemOf, queryAll } from '#shared/table/reads.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { ordinalOf } from './user-id.ts';

/** A phone link: it points to a user, which can have another phone by now. */
export interface LinkPointer extends StoredItem {
  readonly sellerId: string;
  readonly userId: string;
}

/** Reads the phone links; with `sellerId`, only those of that seller. */
export const readPhoneLinks = async (
  table: Table,
  phone: KeyedHash,
  sellerId?: string,
): Promise<LinkPointer[]> => {
  const prefix = sellerId && phoneLinkPrefix(sellerId);
  const partitions = phone.keys(phoneLinksPartition);
  const items = await Promise.all(partitions.map((pk) => queryAll(table, { pk, prefix })));
  // The other items are links that the buyer ended.
  const links = items.flat().filter(({ user_id }) => user_id);
  return links.map((link) => ({
    ...link,
    sellerId: sellerOfPhoneLink(link.sk),
    userId: String(link.user_id),
  }));
};

export const userKeyOf = ({ sellerId, userId }: LinkPointer): ItemKey =>
  userKey(sellerId, ordinalOf(userId) ?? 0);

/** Returns the users of pointers, from the items that were read. Leaves out one that is gone or has another phone by now. */
export const usersOf = (pointers: readonly LinkPointer[], items: readonly StoredItem[], phone: KeyedHash) =>
  pointers.flatMap((pointer) => {
    const user = itemOf(items, userKeyOf(pointer));
    const isLinked = user?.id === pointer.userId && phone.isOf(user.phone_hash);
    return isLinked ? [{ sellerId: pointer.sellerId, user }] : [];
  });
