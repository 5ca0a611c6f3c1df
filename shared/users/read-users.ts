import { GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
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
import type { StoredItem } from '#shared/table/writes.ts';
import { ordinalOf } from './user-id.ts';
import { isTombstone, type User, userFromItem } from './user-item.ts';

/** Pages are counted from 1. */
export interface PageNumber {
  readonly page: number;
  readonly pageSize: number;
}

/** A page of users. */
export interface UserPage {
  readonly users: User[];
  /** How many users there are on all pages. */
  readonly total: number;
  /** The last page that can hold a user. */
  readonly totalPages: number;
}

/** `linked`: the highest ordinal. `removed`: how many of the ordinals hold a tombstone. */
const readCounts = async ({ client, name: TableName }: Table, sellerId: string) => {
  const { Item } = await client.send(
    new GetCommand({
      TableName,
      Key: sellerKey(sellerId),
      ProjectionExpression: 'user_count, removed_count',
      ConsistentRead: true,
    }),
  );
  return { linked: Number(Item?.user_count ?? 0), removed: Number(Item?.removed_count ?? 0) };
};

/** Returns the items of a range of ordinals, tombstones included, in their order. */
const queryOrdinals = async (
  { client, name: TableName }: Table,
  sellerId: string,
  { first, last }: { readonly first: number; readonly last: number },
): Promise<StoredItem[]> => {
  const { Items = [] } = await client.send(
    new QueryCommand({
      TableName,
      KeyConditionExpression: 'pk = :pk AND sk BETWEEN :first AND :last',
      ExpressionAttributeValues: {
        ':pk': usersPartition(sellerId),
        ':first': ordinalSortKey(first),
        ':last': ordinalSortKey(last),
      },
      ConsistentRead: true,
    }),
  );
  return Items;
};

/** Returns all phone links that a seller has under one hash of a phone. */
const queryPhoneLinks = async (
  { client, name: TableName }: Table,
  sellerId: string,
  phoneHash: string,
): Promise<StoredItem[]> => {
  const links: StoredItem[] = [];
  let from: StoredItem | undefined;
  do {
    const { Items = [], LastEvaluatedKey } = await client.send(
      new QueryCommand({
        TableName,
        KeyConditionExpression: 'pk = :pk AND begins_with(sk, :seller)',
        ExpressionAttributeValues: {
          ':pk': phoneLinksPartition(phoneHash),
          ':seller': phoneLinkPrefix(sellerId),
        },
        ConsistentRead: true,
        ...(from === undefined ? {} : { ExclusiveStartKey: from }),
      }),
    );
    links.push(...Items);
    from = LastEvaluatedKey;
  } while (from !== undefined);
  return links;
};

/** Reads the users of a seller. */
export const userReads = (table: Table) => ({
  /** Returns a user by its id, or undefined if the seller has no such user: an unknown, malformed or removed id. */
  async getUser(sellerId: string, userId: string): Promise<User | undefined> {
    const ordinal = ordinalOf(userId);
    if (ordinal === undefined) return undefined;
    const { Item } = await table.client.send(
      new GetCommand({ TableName: table.name, Key: userKey(sellerId, ordinal), ConsistentRead: true }),
    );
    if (Item === undefined || Item.id !== userId || isTombstone(Item)) return undefined;
    return userFromItem(Item);
  },

  /** Returns one page of a seller's users in one round trip. Every page is one range of ordinals and costs the same. */
  async listPage(sellerId: string, page: number, pageSize: number): Promise<UserPage> {
    const first = (page - 1) * pageSize + 1;
    const last = Math.min(first + pageSize - 1, MAX_ORDINAL);
    const query = () => (first > MAX_ORDINAL ? [] : queryOrdinals(table, sellerId, { first, last }));
    const [{ linked, removed }, early] = await Promise.all([readCounts(table, sellerId), query()]);
    const expected = Math.max(0, Math.min(last, linked) - first + 1);
    // The two reads are not one snapshot: a link made between them is in the count but not in the page, or the reverse.
    const items = early.length < expected ? await query() : early;
    const present = items.slice(0, expected).filter((item) => !isTombstone(item));
    return {
      users: present.map(userFromItem),
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
    { page, pageSize }: PageNumber,
  ): Promise<UserPage> {
    const links = await Promise.all(phoneHashes.map((hash) => queryPhoneLinks(table, sellerId, hash)));
    const bySortKey = new Map(links.flat().map((item) => [String(item.sk), item]));
    const found = [...bySortKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, item]) => userFromItem(item));
    return {
      users: found.slice((page - 1) * pageSize, page * pageSize),
      total: found.length,
      totalPages: Math.ceil(found.length / pageSize),
    };
  },
});

export type UserReads = ReturnType<typeof userReads>;
