/**
 * The write of every change of a seller's users: a link, a correction, a removal. It raises `event_count` of the seller under the
 * condition that it is what was read, so the changes of one seller are written one after the other, and each has the next event.
 */
import { randomBase62 } from '#shared/base62.ts';
import { eventPut, type UserEvent } from '#shared/events/event.ts';
import { retryUntil } from '#shared/table/backoff.ts';
import type { Table } from '#shared/table/client.ts';
import { sellerKey } from '#shared/table/keys.ts';
import {
  type CancellationReason,
  isConditionFailure,
  notWritten,
  type StoredItem,
  type TransactItem,
  transactWrite,
  type WriteResult,
  written,
} from '#shared/table/writes.ts';

/** The counts of a seller. */
export interface SellerCounts {
  /** The highest ordinal of its users. */
  readonly users: number;
  readonly removed: number;
  /** The number of its last event. */
  readonly events: number;
}

/** Returns the counts of a seller item; of a seller that does not exist, zeros. */
export const countsFrom = (seller: StoredItem | undefined): SellerCounts => ({
  users: Number(seller?.user_count ?? 0),
  removed: Number(seller?.removed_count ?? 0),
  events: Number(seller?.event_count ?? 0),
});

/** A change of one user. */
export interface UserChange {
  readonly sellerId: string;
  /** The counts of the seller that were read before everything else that decides on the change, or beside it. */
  readonly counts: SellerCounts;
  /** How many users are linked and removed by the change. */
  readonly added?: { readonly users?: 1; readonly removed?: 1 };
  readonly event: UserEvent;
  /** The items of the user. Each has the conditions on what was read of it, since reads of several items are not a snapshot. */
  readonly items: readonly TransactItem[];
}

/** Returns the number of the event of a change. */
export const sequenceAfter = ({ events }: SellerCounts): number => events + 1;

const sellerUpdate = (TableName: string, { sellerId, counts, added = {} }: UserChange): TransactItem => ({
  Update: {
    TableName,
    Key: sellerKey(sellerId),
    UpdateExpression: 'SET user_count = :users, removed_count = :removed, event_count = :sequence',
    ConditionExpression: 'event_count = :read',
    ExpressionAttributeValues: {
      ':users': counts.users + (added.users ?? 0),
      ':removed': counts.removed + (added.removed ?? 0),
      ':sequence': sequenceAfter(counts),
      ':read': counts.events,
    },
  },
});

/** Returns whether a transaction that ended with this error may have been written. The database refuses one with an error of the client. */
const mayBeWritten = (error: unknown): boolean =>
  !(error instanceof Error && '$fault' in error && error.$fault === 'client') ||
  error.name === 'TransactionInProgressException';

/**
 * Writes a change, or nothing. Not written: another change of the seller came first, or a condition of an item failed; the reasons are
 * those of `items`, in their order. If the response is lost, it sends the same transaction again: the event then says whether it was
 * written the first time. Throws the error if there is no response again.
 */
export const writeUserChange = (
  table: Table,
  change: UserChange,
  deadlineMs: number,
): Promise<WriteResult<void, readonly CancellationReason[]>> => {
  const { sellerId, counts, event, items } = change;
  const changeId = randomBase62(15);
  const place = { sellerId, sequence: sequenceAfter(counts), changeId };
  const transaction = [sellerUpdate(table.name, change), eventPut(table, place, event), ...items];
  let isResent = false;

  return retryUntil(deadlineMs, async () => {
    const result = await transactWrite(table, transaction).catch((error: unknown) => {
      if (isResent || !mayBeWritten(error)) throw error;
      isResent = true;
      return undefined;
    });
    if (result === undefined || result.written) return result;
    const [, stored, ...reasons] = result.reason;
    if (stored?.item?.change_id === changeId) return written(undefined);
    // The other write of the conflict may be this transaction, sent the first time.
    if (isResent && !result.reason.some(isConditionFailure)) return undefined;
    return notWritten(reasons);
  });
};
