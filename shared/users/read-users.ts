import type { Table } from '#shared/table/client.ts';
import {
  MAX_ORDINAL,
  ordinalSortKey,
  phoneLinkPrefix,
  phoneLinksPartition,
  sellerKey,
  userKey,
  usersPartition,
} from '#shared/table/keys.ts';
import { getItem, queryAll } from '#shared/table/reads.ts';
import type { User } from './schema.ts';
import { ordinalOf } from './user-id.ts';
import { isTombstone, userFrom } from './user-item.ts';

/** A page of users. Pages are counted from 1. */
interface UserPage {
  readonly users: User[];
  /** How many users there are on all pages. */
  readonly total: number;
  /** The last page that can hold a user. */
  readonly totalPages: number;
}

/** `linked`: the highest ordinal. `removed`: how many of the ordinals hold a tombstone. */
const readCounts = async (table: Table, sellerId: string) => {
  const seller = await getItem(table, sellerKey(sellerId), 'user_count, removed_count');
  return { linked: Number(seller?.user_count ?? 0), removed: Number(seller?.removed_count ?? 0) };
};

/** Reads the users of a seller. */
export const userReads = (table: Table) => ({
  /** Returns a user by its id, or undefined if the seller has no such user: an unknown, malformed or removed id. */
  async getUser(sellerId: string, userId: string): Promise<User | undefined> {
    const ordinal = ordinalOf(userId);
    if (ordinal === undefined) return undefined;
    const item = await getItem(table, userKey(sellerId, ordinal));
    return item?.id !== userId || isTombstone(item) ? undefined : userFrom(item);
  },

  /** Returns one page of a seller's users in one round trip. Every page is one range of ordinals and costs the same. */
  async listPage(sellerId: string, page: number, pageSize: number): Promise<UserPage> {
    const first = (page - 1) * pageSize + 1;
    const last = Math.min(first + pageSize - 1, MAX_ORDINAL);
    const range = {
      pk: usersPartition(sellerId),
      between: [ordinalSortKey(first), ordinalSortKey(last)] as const,
    };
    const query = () => (first > MAX_ORDINAL ? [] : queryAll(table, range));
    const [{ linked, removed }, early] = await Promise.all([readCounts(table, sellerId), query()]);
    const expected = Math.max(0, Math.min(last, linked) - first + 1);
    // The two reads are not one snapshot: a link made between them is in the count but not in the page, or the reverse.
    const items = early.length < expected ? await query() : early;
    const present = items.slice(0, expected).filter((item) => !isTombstone(item));
    return {
      users: present.map(userFrom),
      total: linked - removed,
      totalPages: Math.ceil(linked / pageSize),
    };
  },

  /**
   * Returns one page of the users that a seller linked with one phone, oldest first. `phoneHashes`: the hashes of the phone under
   * every key of the hash secret. One Query for each hash, side by side.
   */
  async findByPhone(
    sellerId: string,
    phoneHashes: readonly string[],
    { page, pageSize }: { readonly page: number; readonly pageSize: number },
  ): Promise<UserPage> {
    const prefix = phoneLinkPrefix(sellerId);
    const links = await Promise.all(
      phoneHashes.map((hash) => queryAll(table, { pk: phoneLinksPartition(hash), prefix })),
    );
    const bySortKey = new Map(links.flat().map((item) => [String(item.sk), item]));
    const found = [...bySortKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, item]) => userFrom(item));
    return {
      users: found.slice((page - 1) * pageSize, page * pageSize),
      total: found.length,
      totalPages: Math.ceil(found.length / pageSize),
    };
  },
});

export type UserReads = ReturnType<typeof userReads>;
