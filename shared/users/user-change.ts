/** Every change of a seller's users raises `event_count` under the condition that it is what was read: changes of one seller are serial. */
import { eventPut, type UserEvent } from '#shared/events/event.ts';
import { type Backoff, pauseAfterConflict } from '#shared/table/backoff.ts';
import type { Table } from '#shared/table/client.ts';
import { sellerKey } from '#shared/table/keys.ts';
import { type Action, type StoredItem, transactWrite } from '#shared/table/writes.ts';

export interface SellerCounts {
  /** The highest ordinal of its users. */
  readonly users: number;
  readonly removed: number;
  /** The number of its last event. */
  readonly events: number;
}

/** Zeros for a seller that does not exist. */
export const countsFrom = (seller: StoredItem | undefined): SellerCounts => ({
  users: Number(seller?.user_count ?? 0),
  removed: Number(seller?.removed_count ?? 0),
  events: Number(seller?.event_count ?? 0),
});

/** Another change came first: something that was read has changed since. */
export type Overtaken = 'overtaken';

export interface UserChange<Refusal extends string> {
  readonly sellerId: string;
  /** Read before everything else that decides on the change, or beside it. */
  readonly counts: SellerCounts;
  readonly added?: { readonly users?: 1; readonly removed?: 1 };
  readonly event: UserEvent;
  /** The items of the user. Each has the conditions on what was read of it, since reads of several items are not a snapshot. */
  readonly actions: readonly Action<Refusal | Overtaken>[];
}

export type UserChangeResult<Refusal extends string> =
  | { readonly written: true }
  | {
      readonly written: false;
      readonly refusal: Refusal | Overtaken;
      /** The counts after the other change, if only they have changed: the change can be made with them at once. */
      readonly counts?: SellerCounts | undefined;
    };

export const sequenceAfter = ({ events }: SellerCounts): number => events + 1;

const sellerUpdate = <Refusal extends string>(
  TableName: string,
  { sellerId, counts, added = {} }: UserChange<Refusal>,
): Action<Overtaken> => ({
  Update: {
    TableName,
    Key: sellerKey(sellerId),
    UpdateExpression: 'SET user_count = :users, removed_count = :removed, event_count = :sequence',
    ConditionExpression: 'event_count = :read',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    ExpressionAttributeValues: {
      ':users': counts.users + (added.users ?? 0),
      ':removed': counts.removed + (added.removed ?? 0),
      ':sequence': sequenceAfter(counts),
      ':read': counts.events,
    },
  },
  otherwise: 'overtaken',
});

/** Writes a change and its event in one transaction. The refusals of the user's items come before that of the seller's counts. */
export const writeUserChange = async <Refusal extends string>(
  table: Table,
  change: UserChange<Refusal>,
): Promise<UserChangeResult<Refusal>> => {
  const { sellerId, counts, event, actions } = change;
  const result = await transactWrite<Refusal | Overtaken>(table, [
    ...actions,
    sellerUpdate(table.name, change),
    eventPut(table, sellerId, sequenceAfter(counts), event),
  ]);
  if (result.written) return result;
  if (result.refusal === 'conflict') return { written: false, refusal: 'overtaken' };
  return { ...result, refusal: result.refusal, counts: result.item && countsFrom(result.item) };
};

/**
 * The bounds of the random waits after each conflict of a change, in milliseconds. Long from the first one on, since each change takes a
 * round trip, so many at once need as many round trips; after two conflicts the competitors are many. 0: at once, with the counts that
 * the failed condition returned. Measured by `npm run bench:changes`.
 */
const PAUSES: Backoff = [320, 0, 0, 340, 0, 1000, 0, 3400];

/**
 * Waits after a change was overtaken. Returns the counts for the next attempt; undefined: read them again. `newCounts`: those that the
 * failed condition returned. Throws `service_unavailable` at the deadline (monotonic clock): nothing was stored then.
 */
export const afterOvertaken = async (
  conflicts: number,
  newCounts: SellerCounts | undefined,
  deadlineMs: number,
): Promise<SellerCounts | undefined> => {
  if (PAUSES[conflicts] === 0 && newCounts !== undefined) return newCounts;
  await pauseAfterConflict(conflicts, deadlineMs, PAUSES);
  return undefined;
};
