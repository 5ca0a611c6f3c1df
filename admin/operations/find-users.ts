import type { Administration } from '#admin/administration.ts';
import { batchGetAll } from '#admin/stores/batches.ts';
import {
  externalIdKey,
  type ItemKey,
  phoneLinksPartition,
  sellerOfPhoneLink,
  userKey,
} from '#shared/table/keys.ts';
import { queryAll } from '#shared/table/reads.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { userReads } from '#shared/users/read-users.ts';
import type { User } from '#shared/users/schema.ts';
import { ordinalOf } from '#shared/users/user-id.ts';

/** A user, with the seller that it is linked to. */
export type UserOfSeller = User & { readonly seller_id: string };

const usersOf = async (
  sellerIds: readonly string[],
  find: (sellerId: string) => Promise<readonly (User | undefined)[]>,
): Promise<UserOfSeller[]> => {
  const found = sellerIds.map(async (seller_id) =>
    (await find(seller_id)).flatMap((user) => (user === undefined ? [] : [{ seller_id, ...user }])),
  );
  return (await Promise.all(found)).flat();
};

/** Finds the sellers that have an item with a key, in batches. */
const sellersWith = async (
  { table }: Administration,
  sellerIds: readonly string[],
  keyOf: (sellerId: string) => ItemKey,
  isWanted: (item: StoredItem) => boolean = () => true,
): Promise<string[]> => {
  const items = await batchGetAll(table, sellerIds.map(keyOf));
  const partitions = new Set(items.filter(isWanted).map(({ pk }) => pk));
  return sellerIds.filter((sellerId) => partitions.has(keyOf(sellerId).pk));
};

/** Finds the user with an id among the users of these sellers. */
export const findById = async (
  admin: Administration,
  sellerIds: readonly string[],
  userId: string,
): Promise<UserOfSeller[]> => {
  const ordinal = ordinalOf(userId);
  if (ordinal === undefined) return [];
  const keyOf = (sellerId: string) => userKey(sellerId, ordinal);
  const sellers = await sellersWith(admin, sellerIds, keyOf, ({ id }) => id === userId);
  return usersOf(sellers, async (sellerId) => [await userReads(admin.table).getUser(sellerId, userId)]);
};

/** Finds the users of these sellers with an external id: at most one of each. */
export const findByExternalId = async (
  admin: Administration,
  sellerIds: readonly string[],
  externalId: string,
): Promise<UserOfSeller[]> => {
  const sellers = await sellersWith(admin, sellerIds, (sellerId) => externalIdKey(sellerId, externalId));
  const reads = userReads(admin.table);
  return usersOf(sellers, async (sellerId) => [await reads.findByExternalId(sellerId, externalId)]);
};

/** Finds the users of these sellers with a phone. `phoneHashes`: its hashes under every key still in use. */
export const findByPhone = async (
  { table }: Administration,
  sellerIds: readonly string[],
  phoneHashes: readonly string[],
): Promise<UserOfSeller[]> => {
  const links = await Promise.all(
    phoneHashes.map((hash) => queryAll(table, { pk: phoneLinksPartition(hash) })),
  );
  const found = new Set(links.flat().map(({ sk }) => sellerOfPhoneLink(sk)));
  const all = { page: 1, pageSize: Number.MAX_SAFE_INTEGER };
  return usersOf(
    sellerIds.filter((sellerId) => found.has(sellerId)),
    async (sellerId) => (await userReads(table).findByPhone(sellerId, phoneHashes, all)).users,
  );
};
