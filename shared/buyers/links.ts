import { PutCommand } from '@aws-sdk/lib-dynamodb';
import type { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import type { Table } from '#shared/table/client.ts';
import {
  linkSearchesKey,
  phoneLinksPartition,
  sellerKey,
  sellerOfPhoneLink,
  userKey,
} from '#shared/table/keys.ts';
import { batchGet, itemOf, queryAll } from '#shared/table/reads.ts';
import { retriedWrite, type StoredItem } from '#shared/table/writes.ts';
import { ordinalOf } from '#shared/users/user-id.ts';
import { type LinkSearches, mergedSearches } from './link-searches.ts';

export interface PhoneLink {
  readonly sellerId: string;
  readonly sellerName: string;
  readonly user: StoredItem;
}

interface PhoneItems {
  readonly pointers: readonly { readonly sellerId: string; readonly userId: string }[];
  readonly searches: LinkSearches;
}

export const buyerLinks = (table: Table) => ({
  /** The pointers to the users with a phone, and the persons that were named beside it. */
  async readPhone(phone: KeyedHash): Promise<PhoneItems> {
    const items = (
      await Promise.all(phone.keys(phoneLinksPartition).map((pk) => queryAll(table, { pk })))
    ).flat();
    return {
      pointers: items
        .filter(({ user_id }) => user_id !== undefined)
        .map(({ sk, user_id }) => ({
          sellerId: sellerOfPhoneLink(sk),
          userId: String(user_id),
        })),
      searches: mergedSearches(phone.keys((hash) => itemOf(items, linkSearchesKey(hash)))),
    };
  },

  /** The users of pointers, the oldest first. A user that lost the phone meanwhile is left out. */
  async readLinks({ pointers }: PhoneItems, phone: KeyedHash): Promise<PhoneLink[]> {
    const keyOf = ({ sellerId, userId }: PhoneItems['pointers'][number]) =>
      userKey(sellerId, ordinalOf(userId) ?? 0);
    const sellerIds = [...new Set(pointers.map(({ sellerId }) => sellerId))];
    // A phone without links costs a call too, so that the time of a response does not tell whether it has some.
    const keys =
      pointers.length === 0 ? [sellerKey('')] : [...pointers.map(keyOf), ...sellerIds.map(sellerKey)];
    const items = await batchGet(table, keys);
    return pointers
      .flatMap((pointer) => {
        const user = itemOf(items, keyOf(pointer));
        const isLinked = user?.id === pointer.userId && phone.isOf(user.phone_hash);
        const seller = itemOf(items, sellerKey(pointer.sellerId));
        return isLinked ? [{ sellerId: pointer.sellerId, sellerName: String(seller?.name), user }] : [];
      })
      .sort((a, b) => String(a.user.created_at).localeCompare(String(b.user.created_at)));
  },

  /** Returns false if another request has written since the persons were read. */
  async saveSearches(phoneHash: string, read: LinkSearches, next: LinkSearches): Promise<boolean> {
    const command = new PutCommand({
      TableName: table.name,
      Item: { ...linkSearchesKey(phoneHash), ...next },
      ConditionExpression: 'attribute_not_exists(pk) OR version = :read',
      ExpressionAttributeValues: { ':read': read.version },
    });
    return (await retriedWrite(() => table.client.send(command))).written;
  },
});
