import type { Administration } from '#admin/administration.ts';
import { batchGetAll } from '#admin/stores/batch-get.ts';
import { externalIdKey, type ItemKey, phoneLinksPartition, userKey } from '#shared/table/keys.ts';
import { queryAll } from '#shared/table/reads.ts';
import type { User } from '#shared/users/schema.ts';
import { ordinalOf } from '#shared/users/user-id.ts';
import { userFrom } from '#shared/users/user-item.ts';

/** A user, with the seller that it is linked to. */
export type UserOfSeller = User & { readonly seller_id: string };

const textOf = ({ pk, sk }: ItemKey): string => `${pk} ${sk}`;

/** Reads the item with a key of each seller. Returns the users of those that exist, in the order of the sellers. */
const usersAt = async (
  { table }: Administration,
  sellerIds: readonly string[],
  keyOf: (sellerId: string) => ItemKey,
): Promise<UserOfSeller[]> => {
  const items = await batchGetAll(table, sellerIds.map(keyOf));
  const byKey = new Map(items.map((item) => [textOf({ pk: String(item.pk), sk: String(item.sk) }), item]));
  return sellerIds.flatMap((sellerId) => {
    const item = byKey.get(textOf(keyOf(sellerId)));
    return item === undefined ? [] : [{ seller_id: sellerId, ...userFrom(item) }];
  });
};

/** Finds the user with an id among the users of these sellers. */
export const findById = async (
  admin: Administration,
  sellerIds: readonly string[],
  userId: string,
): Promise<UserOfSeller[]> => {
  const ordinal = ordinalOf(userId);
  if (ordinal === undefined) return [];
  const users = await usersAt(admin, sellerIds, (sellerId) => userKey(sellerId, ordinal));
  return users.filter(({ id }) => id === userId);
};

/** Finds the users of these sellers with an external id: at most one of each. */
export const findByExternalId = (
  admin: Administration,
  sellerIds: readonly string[],
  externalId: string,
): Promise<UserOfSeller[]> => usersAt(admin, sellerIds, (sellerId) => externalIdKey(sellerId, externalId));

/** Finds the users of these sellers with a phone. `phoneHashes`: its hashes under every key still in use. */
export const findByPhone = async (
  { table }: Administration,
  sellerIds: readonly string[],
  phoneHashes: readonly string[],
): Promise<UserOfSeller[]> => {
  const links = await Promise.all(
    phoneHashes.map((hash) => queryAll(table, { pk: phoneLinksPartition(hash) })),
  );
  return links.flat().flatMap((item) => {
    const sellerId = String(item.sk).slice(0, String(item.sk).lastIndexOf('#'));
    return sellerIds.includes(sellerId) ? [{ seller_id: sellerId, ...userFrom(item) }] : [];
  });
};
