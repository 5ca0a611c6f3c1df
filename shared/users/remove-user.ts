import { retryUntil } from '#shared/table/backoff.ts';
import type { Table } from '#shared/table/client.ts';
import { personKey, phoneLinkKey, sellerKey, userKey } from '#shared/table/keys.ts';
import { getItem } from '#shared/table/reads.ts';
import { type StoredItem, type TransactItem, transactWrite, written } from '#shared/table/writes.ts';
import { ordinalOf } from './user-id.ts';
import { isTombstone } from './user-item.ts';

/** `already_removed`: a removal of the same id came first. */
export type RemovalResult = 'removed' | 'already_removed' | 'not_found';

/** When a removal is made, until when it is retried, and what is written with it. */
export interface RemovalOptions {
  /** ISO, UTC. */
  readonly removedAt: string;
  /** In milliseconds of the monotonic clock (performance.now()). */
  readonly deadlineMs: number;
  /** Awaited before the first write, beside the read. Its rejection is thrown. */
  readonly mayWrite?: Promise<unknown>;
  /** Written in the same transaction, so only with the result `removed`. They have no conditions. */
  readonly alsoWrite?: readonly TransactItem[];
}

/**
 * The user becomes a tombstone, its person item and phone link are deleted, and `removed_count` of the seller is incremented. The hashes
 * are those that the user was stored under, so a rotation of the hash secret changes nothing.
 */
const removalItems = (
  TableName: string,
  sellerId: string,
  { sk, id, person_hash, phone_hash }: StoredItem,
  removedAt: string,
): TransactItem[] => {
  const ordinal = Number(sk);
  return [
    {
      Put: {
        TableName,
        Item: { ...userKey(sellerId, ordinal), id, removed_at: removedAt },
        ConditionExpression: 'id = :id AND attribute_not_exists(removed_at)',
        ExpressionAttributeValues: { ':id': id },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      },
    },
    {
      Delete: {
        TableName,
        Key: personKey(sellerId, String(person_hash)),
        // A person item of another ordinal belongs to a later link of the same person.
        ConditionExpression: 'attribute_not_exists(pk) OR ordinal = :ordinal',
        ExpressionAttributeValues: { ':ordinal': ordinal },
      },
    },
    { Delete: { TableName, Key: phoneLinkKey(String(phone_hash), sellerId, ordinal) } },
    {
      Update: {
        TableName,
        Key: sellerKey(sellerId),
        UpdateExpression: 'ADD removed_count :one',
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeValues: { ':one': 1 },
      },
    },
  ];
};

/** Returns the item of a user, which may be a tombstone. */
const readItem = async (table: Table, sellerId: string, userId: string): Promise<StoredItem | undefined> => {
  const ordinal = ordinalOf(userId);
  if (ordinal === undefined) return undefined;
  const item = await getItem(table, userKey(sellerId, ordinal));
  return item?.id === userId ? item : undefined;
};

/** Removes users. */
export const userRemovals = (table: Table) => ({
  /**
   * Removes a user and everything personal about it, in one transaction. Removing the same id again changes nothing. Conflicts with
   * other writes are retried until the deadline; then it throws `service_unavailable`, and nothing was changed.
   */
  async removeUser(sellerId: string, userId: string, options: RemovalOptions): Promise<RemovalResult> {
    const { removedAt, deadlineMs, mayWrite, alsoWrite = [] } = options;
    const [user] = await Promise.all([readItem(table, sellerId, userId), mayWrite]);
    if (user === undefined) return 'not_found';
    if (isTombstone(user)) return 'already_removed';
    const items = [...removalItems(table.name, sellerId, user, removedAt), ...alsoWrite];
    // A response can be lost after the write happened: the tombstone then has the time of this removal.
    const isOwn = (item: StoredItem | undefined) => item?.removed_at === removedAt;

    return retryUntil<RemovalResult>(deadlineMs, async () => {
      const result = await transactWrite(table, items).catch(async (error: unknown) => {
        const stored = await readItem(table, sellerId, userId).catch(() => undefined);
        if (isOwn(stored)) return written(undefined);
        throw error;
      });
      if (result.written) return 'removed';
      // Only the user item returns what it holds.
      const tombstone = result.reason.find(({ item }) => item !== undefined)?.item;
      if (tombstone === undefined) return undefined;
      return isOwn(tombstone) ? 'removed' : 'already_removed';
    });
  },
});

export type UserRemovals = ReturnType<typeof userRemovals>;
