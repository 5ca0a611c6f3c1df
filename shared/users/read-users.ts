import type { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import type { Table } from '#shared/table/client.ts';
import {
  externalIdKey,
  MAX_ORDINAL,
  numberSortKey,
  removalBlockKey,
  removalSummaryKey,
  sellerKey,
  userKey,
  usersPartition,
} from '#shared/table/keys.ts';
import { batchGet, getItem, itemOf, queryFirst } from '#shared/table/reads.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { readPhoneLinks, userKeyOf, usersOf } from './phone-links.ts';
import { ordinalAt, type Place, placeOf, removedIn, totalOf } from './removals.ts';
import type { User } from './schema.ts';
import { countsFrom } from './user-change.ts';
import { ordinalOf } from './user-id.ts';
import { userFrom } from './user-item.ts';

export interface UserPage {
  readonly users: User[];
  readonly total: number;
  readonly totalPages: number;
}

interface UsersAfter {
  readonly users: User[];
  /** How many users the seller has. */
  readonly total: number;
  /** Null if there are no users after them. */
  readonly nextAfter: string | null;
}

interface PageRequest {
  readonly page: number;
  readonly pageSize: number;
}

export const pageOf = (found: readonly User[], { page, pageSize }: PageRequest): UserPage => ({
  users: found.slice((page - 1) * pageSize, page * pageSize),
  total: found.length,
  totalPages: Math.ceil(found.length / pageSize),
});

/** Of a recycled number, the user that was checked last is its owner. ISO times sort as text; of two at once the later link comes first. */
const lastCheckedFirst = (a: StoredItem, b: StoredItem): number =>
  a.checked_at === b.checked_at
    ? Number(b.sk) - Number(a.sk)
    : String(a.checked_at) < String(b.checked_at)
      ? 1
      : -1;

const MAX_ATTEMPTS = 5;

const NOTHING_REMOVED = new Uint8Array();

const bytesOf = (attribute: unknown): Uint8Array =>
  attribute === undefined ? NOTHING_REMOVED : (attribute as Uint8Array);

/** Returns a function that reads `count` users from an ordinal on. */
const usersFromOrdinal =
  (table: Table, sellerId: string, count: number) =>
  async (first: number): Promise<StoredItem[]> => {
    if (first > MAX_ORDINAL) return [];
    const between = [numberSortKey(first), numberSortKey(MAX_ORDINAL)] as const;
    return queryFirst(table, { pk: usersPartition(sellerId), between }, count);
  };

/** `isSnapshot`: the counts and the summary of the removals are of the same moment. */
const readCounts = async (table: Table, sellerId: string) => {
  const keys = { seller: sellerKey(sellerId), summary: removalSummaryKey(sellerId) };
  const items = await batchGet(table, Object.values(keys));
  const { users, removed } = countsFrom(itemOf(items, keys.seller));
  const summary = bytesOf(itemOf(items, keys.summary)?.removed_counts);
  return { total: users - removed, summary, isSnapshot: totalOf(summary) === removed };
};

/** `isSnapshot`: the place and the bitmap of its block are of the same moment. */
const findOrdinal = async (table: Table, sellerId: string, place: Place) => {
  if (place.removed === 0) return { ordinal: ordinalAt(place, NOTHING_REMOVED), isSnapshot: true };
  const item = await getItem(table, removalBlockKey(sellerId, place.block));
  const bitmap = bytesOf(item?.removed_ordinals);
  return { ordinal: ordinalAt(place, bitmap), isSnapshot: removedIn(bitmap) === place.removed };
};

/**
 * Reads the counts, and beside them the page as if no user before it had been removed. If some were, the index of removals says where the
 * page begins, and it is read again.
 */
const readPage = async (table: Table, sellerId: string, { page, pageSize }: PageRequest) => {
  const preceding = (page - 1) * pageSize;
  const usersFrom = usersFromOrdinal(table, sellerId, pageSize);
  const [{ total, summary, isSnapshot }, earlyItems] = await Promise.all([
    readCounts(table, sellerId),
    usersFrom(preceding + 1),
  ]);
  const expected = Math.max(0, Math.min(pageSize, total - preceding));
  if (expected === 0) return { total, users: [], isExact: isSnapshot };
  const start =
    preceding === 0
      ? { ordinal: 1, isSnapshot: true }
      : await findOrdinal(table, sellerId, placeOf(summary, preceding));
  const items = start.ordinal === preceding + 1 ? earlyItems : await usersFrom(start.ordinal);
  return {
    total,
    // A user that was linked after the counts were read is not on the page.
    users: items.slice(0, expected).map(userFrom),
    isExact: isSnapshot && start.isSnapshot && items.length >= expected,
  };
};

export const userReader =
  (table: Table) =>
  async (sellerId: string, userId: string): Promise<User | undefined> => {
    const ordinal = ordinalOf(userId);
    if (ordinal === undefined) return undefined;
    const item = await getItem(table, userKey(sellerId, ordinal));
    return item?.id === userId ? userFrom(item) : undefined;
  };

export const userReads = (table: Table) => ({
  getUser: userReader(table),

  /** One round trip if nothing before the page was removed, else at most three. */
  async listPage(sellerId: string, page: number, pageSize: number): Promise<UserPage> {
    for (let attempt = 1; ; attempt += 1) {
      const { total, users, isExact } = await readPage(table, sellerId, { page, pageSize });
      if (isExact || attempt === MAX_ATTEMPTS)
        return { users, total, totalPages: Math.ceil(total / pageSize) };
    }
  },

  /** Changes meanwhile neither skip nor repeat a user, since an ordinal never changes. */
  async listAfter(sellerId: string, place: number, count: number): Promise<UsersAfter> {
    // One more than wanted tells whether there are users after these.
    const [items, { total }] = await Promise.all([
      usersFromOrdinal(table, sellerId, count + 1)(place + 1),
      readCounts(table, sellerId),
    ]);
    const users = items.slice(0, count).map(userFrom);
    return { users, total, nextAfter: items.length > count ? (users.at(-1)?.id ?? null) : null };
  },

  /** A user that lost the phone between the reads is skipped. */
  async findByPhone(sellerId: string, phone: KeyedHash, request: PageRequest): Promise<UserPage> {
    const pointers = await readPhoneLinks(table, phone, sellerId);
    const items = await batchGet(table, pointers.map(userKeyOf));
    const found = new Set(usersOf(pointers, items, phone).map(({ user }) => user));
    return pageOf([...found].sort(lastCheckedFirst).map(userFrom), request);
  },

  async findByExternalId(sellerId: string, externalId: string): Promise<User | undefined> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      const pointer = await getItem(table, externalIdKey(sellerId, externalId));
      if (pointer === undefined) return undefined;
      const user = await userReader(table)(sellerId, String(pointer.user_id));
      if (user?.external_id === externalId) return user;
      // Between the two reads the user lost the external id, and another user may have got it.
    }
    return undefined;
  },
});
