import type { Table } from '#shared/table/client.ts';
import { externalIdKey, sellerKey, userKey } from '#shared/table/keys.ts';
import { batchGet, itemOf } from '#shared/table/reads.ts';
import {
  isConditionFailure,
  notWritten,
  type StoredItem,
  type TransactItem,
  type WriteResult,
  written,
} from '#shared/table/writes.ts';
import type { User, UserUpdate } from './schema.ts';
import { changeUsers, countsFrom, Overtaken, sequenceAfter, writeUserChange } from './user-change.ts';
import { ordinalOf } from './user-id.ts';
import { userFrom } from './user-item.ts';

export type UpdateResult = WriteResult<User, 'user_not_found' | 'external_id_conflict'>;

interface UpdateOptions {
  readonly update: UserUpdate;
  /** ISO, UTC. */
  readonly updatedAt: string;
  /** In milliseconds of the monotonic clock (performance.now()). */
  readonly deadlineMs: number;
  /** Awaited before the first write, beside the read. Its rejection is thrown. */
  readonly mayWrite?: Promise<unknown>;
}

/** Null clears an attribute. */
const updated = (user: StoredItem, update: UserUpdate): StoredItem => ({
  ...user,
  ...Object.fromEntries(Object.entries(update).map(([name, value]) => [name, value ?? undefined])),
});

const isSame = (before: StoredItem, after: StoredItem, update: UserUpdate): boolean =>
  Object.keys(update).every((name) => before[name] === after[name]);

/** Only the new external id returns what it holds. */
const updateItems = (
  TableName: string,
  sellerId: string,
  { before, after }: { readonly before: StoredItem; readonly after: StoredItem },
): TransactItem[] => {
  const keyOf = ({ external_id }: StoredItem) => externalIdKey(sellerId, String(external_id));
  const take: TransactItem = {
    Put: {
      TableName,
      Item: { ...keyOf(after), user_id: after.id },
      // The same user can hold it after another correction at the same time.
      ConditionExpression: 'attribute_not_exists(pk) OR user_id = :id',
      ExpressionAttributeValues: { ':id': after.id },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    },
  };
  const isChanged = before.external_id !== after.external_id;
  return [
    {
      Put: {
        TableName,
        Item: after,
        ConditionExpression: 'last_event = :read',
        ExpressionAttributeValues: { ':read': before.last_event },
      },
    },
    ...(isChanged && after.external_id !== undefined ? [take] : []),
    ...(isChanged && before.external_id !== undefined ? [{ Delete: { TableName, Key: keyOf(before) } }] : []),
  ];
};

export const userUpdates = (table: Table) => ({
  /**
   * Changes name and external id in one transaction, and writes nothing if nothing changes. Retries conflicts until the deadline, then throws
   * `service_unavailable`: nothing was changed.
   */
  async updateUser(sellerId: string, userId: string, options: UpdateOptions): Promise<UpdateResult> {
    const { update, updatedAt, deadlineMs, mayWrite } = options;
    const ordinal = ordinalOf(userId);
    if (ordinal === undefined) return notWritten('user_not_found');
    const keys = { seller: sellerKey(sellerId), user: userKey(sellerId, ordinal) };

    const read = async () => {
      const [items] = await Promise.all([batchGet(table, Object.values(keys)), mayWrite]);
      return { counts: countsFrom(itemOf(items, keys.seller)), before: itemOf(items, keys.user) };
    };
    return changeUsers(deadlineMs, read, async ({ counts, before }) => {
      if (before?.id !== userId) return notWritten('user_not_found');
      const after = { ...updated(before, update), last_event: sequenceAfter(counts) };
      if (isSame(before, after, update)) return written(userFrom(before));
      const event = { type: 'user.updated', userId, occurredAt: updatedAt } as const;
      const change = { sellerId, counts, event, items: updateItems(table.name, sellerId, { before, after }) };
      const result = await writeUserChange(table, change);
      if (result.written) return written(userFrom(after));
      const { reasons, counts: newCounts } = result.reason;
      if (reasons.some(({ item }) => item !== undefined)) return notWritten('external_id_conflict');
      return new Overtaken(reasons.some(isConditionFailure) ? undefined : newCounts);
    });
  },
});
