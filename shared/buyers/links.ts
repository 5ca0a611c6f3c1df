import type { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import type { Table } from '#shared/table/client.ts';
import { phoneLinksPartition, sellerKey, sellerOfPhoneLink, userKey } from '#shared/table/keys.ts';
import { batchGet, itemOf, queryAll } from '#shared/table/reads.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { ordinalOf } from '#shared/users/user-id.ts';

export interface PhoneLink {
  readonly sellerId: string;
  readonly sellerName: string;
  readonly user: StoredItem;
}

/** Returns a function that reads the users with a phone over all sellers, the oldest first. */
export const phoneLinkReader =
  (table: Table) =>
  async (phone: KeyedHash): Promise<PhoneLink[]> => {
    const found = await Promise.all(phone.keys(phoneLinksPartition).map((pk) => queryAll(table, { pk })));
    const pointers = found
      .flat()
      .filter(({ user_id }) => user_id !== undefined)
      .map(({ sk, user_id }) => ({ sellerId: sellerOfPhoneLink(sk), userId: String(user_id) }));
    const keyOf = ({ sellerId, userId }: (typeof pointers)[number]) =>
      userKey(sellerId, ordinalOf(userId) ?? 0);
    const sellerIds = [...new Set(pointers.map(({ sellerId }) => sellerId))];
    // A phone without links costs a call too, so that the time of a response does not tell whether it has some.
    const keys =
      pointers.length === 0 ? [sellerKey('')] : [...pointers.map(keyOf), ...sellerIds.map(sellerKey)];
    const items = await batchGet(table, keys);
    return pointers
      .flatMap((pointer) => {
        const user = itemOf(items, keyOf(pointer));
        // A user that lost the phone since its pointer was read is left out.
        const isLinked = user?.id === pointer.userId && phone.isOf(user.phone_hash);
        const seller = itemOf(items, sellerKey(pointer.sellerId));
        return isLinked ? [{ sellerId: pointer.sellerId, sellerName: String(seller?.name), user }] : [];
      })
      .sort((a, b) => String(a.user.created_at).localeCompare(String(b.user.created_at)));
  };
