/** Every change of a seller's users raises `event_count` under the condition that it is what was read: changes of one seller are serial. */
import { eventPut, type UserEvent } from '#shared/events/event.ts';
import type { Table } from '#shared/table/client.ts';
import { eventKey, sellerKey } from '#shared/table/keys.ts';
import { Conflict } from '#shared/table/retry-conflicts.ts';
import {
  type Action,
  notWritten,
  type StoredItem,
  transactWrite,
  type WriteResult,
} from '#shared/table/writes.ts';

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

interface UserChange<Outcome extends string> {
  readonly sellerId: string;
  /** Read before everything else that decides on the change, or beside it. */
  readonly counts: SellerCounts;
  readonly added?: { readonly users?: 1; readonly removed?: 1 };
  readonly event: UserEvent;
  /** The items of the user. Each has the conditions on what was read of it, since reads of several items are not a snapshot. */
  readonly actions: readonly Action<Outcome | Overtaken>[];
}

export type UserChangeResult<Outcome extends string> = WriteResult<void, Outcome> | Conflict;

export const sequenceAfter = ({ events }: SellerCounts): number => events + 1;

const sellerUpdate = <Outcome extends string>(
  TableName: string,
  { sellerId, counts, added = {} }: UserChange<Outcome>,
): Action<Overtaken> => ({
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
  otherwise: 'overtaken',
});

/** Writes a change and its event in one transaction. The outcome of a failed condition of the user's items precedes a conflict. */
export const writeUserChange = async <Outcome extends string>(
  table: Table,
  change: UserChange<Outcome>,
): Promise<UserChangeResult<Outcome>> => {
  const { sellerId, counts, event, actions } = change;
  const result = await transactWrite<Outcome | Overtaken>(table, [
    ...actions,
    sellerUpdate(table.name, change),
    eventPut(table, eventKey(sellerId, sequenceAfter(counts)), event),
  ]);
  if (result.written || result instanceof Conflict) return result;
  if (result.reason === 'overtaken') return new Conflict();
  return notWritten(result.reason);
};

/**
 * How long a seller's own correction or removal waits for other changes of that seller, in milliseconds. It can be repeated for free, and
 * the container in which it waits is one that other sellers lack. A link or a check has been paid, and a buyer
 * cannot send again by a program: these wait until the deadline of their request.
 */
export const FREE_CHANGE_WAIT_MS = 300;
