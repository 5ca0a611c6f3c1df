import type { Table } from '#shared/table/client.ts';
import { personKey, phoneLinkKey, sellerKey, userKey } from '#shared/table/keys.ts';
import { getItem } from '#shared/table/reads.ts';
import {
  isConditionFailure,
  type StoredItem,
  type TransactItem,
  transactWrite,
  written,
} from '#shared/table/writes.ts';
import { ordinalOf } from './user-id.ts';
import { isTombstone } from './user-item.ts';
import { requireRetryable, retryUntil } from './user-transaction.ts';

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
  /** Written in the same transaction, so only with the result `removed`. */
  readonly alsoWrite?: readonly TransactItem[];
}

/** A user to remove, as it is stored. The hashes are those it was stored under, so a rotation of the hash secret changes nothing. */
interface Removal {
  readonly sellerId: string;
  readonly userId: string;
  readonly ordinal: number;
  readonly personHash: string;
  readonly phoneHash: string;
  readonly removedAt: string;
}

/** The user becomes a tombstone, its person item and phone link are deleted, and `removed_count` of the seller is incremented. */
const removalItems = (TableName: string, removal: Removal): TransactItem[] => {
  const { sellerId, userId, ordinal } = removal;
  return [
    {
      Put: {
        TableName,
        Item: { ...userKey(sellerId, ordinal), id: userId, removed_at: removal.removedAt },
        ConditionExpression: 'id = :id AND attribute_not_exists(removed_at)',
        ExpressionAttributeValues: { ':id': userId },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      },
    },
    {
      Delete: {
        TableName,
        Key: personKey(sellerId, removal.personHash),
        // A person item of another ordinal belongs to a later link of the same person.
        ConditionExpression: 'attribute_not_exists(pk) OR ordinal = :ordinal',
        ExpressionAttributeValues: { ':ordinal': ordinal },
      },
    },
    { Delete: { TableName, Key: phoneLinkKey(removal.phoneHash, sellerId, ordinal) } },
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

const removalOf = (sellerId: string, item: StoredItem, removedAt: string): Removal => ({
  sellerId,
  userId: String(item.id),
  ordinal: Number(item.sk),
  personHash: String(item.person_hash),
  phoneHash: String(item.phone_hash),
  removedAt,
});

/** Returns normally if the removal is stored, else throws `error`. A response can be lost after the write happened. */
const requireStored = async (table: Table, removal: Removal, error: unknown) => {
  const item = await readItem(table, removal.sellerId, removal.userId).catch(() => undefined);
  if (item?.removed_at === removal.removedAt) return written(undefined);
  throw error;
};

/** One attempt. Undefined if the transaction met a conflict. */
const tryRemove = async (
  table: Table,
  removal: Removal,
  alsoWrite: readonly TransactItem[],
): Promise<RemovalResult | undefined> => {
  const items = removalItems(table.name, removal);
  const result = await transactWrite(table, [...items, ...alsoWrite]).catch((error) =>
    requireStored(table, removal, error),
  );
  if (result.written) return 'removed';
  const [user] = result.reason;
  if (user && isConditionFailure(user)) {
    // This removal may have written the tombstone before its response was lost.
    return user.item?.removed_at === removal.removedAt ? 'removed' : 'already_removed';
  }
  requireRetryable(result.reason, { ownItems: items.length, contended: [] });
  return undefined;
};

/** Removes users. */
export const userRemovals = (table: Table) => ({
  /**
   * Removes a user and everything personal about it, in one transaction. Removing the same id again changes nothing. Conflicts with
   * other writes are retried until the deadline; then it throws `service_unavailable`, and nothing was changed.
   */
  async removeUser(sellerId: string, userId: string, options: RemovalOptions): Promise<RemovalResult> {
    const { removedAt, deadlineMs, mayWrite, alsoWrite = [] } = options;
    const [item] = await Promise.all([readItem(table, sellerId, userId), mayWrite]);
    if (item === undefined) return 'not_found';
    if (isTombstone(item)) return 'already_removed';
    const removal = removalOf(sellerId, item, removedAt);
    return retryUntil(deadlineMs, () => tryRemove(table, removal, alsoWrite));
  },
});

export type UserRemovals = ReturnType<typeof userRemovals>;
