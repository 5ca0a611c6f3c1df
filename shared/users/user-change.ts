/** Every change of a seller's users raises `event_count` under the condition that it is what was read: changes of one seller are serial. */
import { eventPut, type UserEvent } from '#shared/events/event.ts';
import { type Backoff, retryUntil } from '#shared/table/backoff.ts';
import type { Table } from '#shared/table/client.ts';
import { sellerKey } from '#shared/table/keys.ts';
import {
  type CancellationReason,
  notWritten,
  type StoredItem,
  type TransactItem,
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

export interface UserChange {
  readonly sellerId: string;
  /** Read before everything else that decides on the change, or beside it. */
  readonly counts: SellerCounts;
  readonly added?: { readonly users?: 1; readonly removed?: 1 };
  readonly event: UserEvent;
  /** The items of the user. Each has the conditions on what was read of it, since reads of several items are not a snapshot. */
  readonly items: readonly TransactItem[];
}

export const sequenceAfter = ({ events }: SellerCounts): number => events + 1;

const sellerUpdate = (TableName: string, { sellerId, counts, added = {} }: UserChange): TransactItem => ({
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
});

interface Refusal {
  /** Of the change's items, in their order. */
  readonly reasons: readonly CancellationReason[];
  /** After the other change of the seller that came first, if there was one. */
  readonly counts: SellerCounts | undefined;
}

export const writeUserChange = async (
  table: Table,
  change: UserChange,
): Promise<WriteResult<void, Refusal>> => {
  const { sellerId, counts, event, items } = change;
  const own = [sellerUpdate(table.name, change), eventPut(table, sellerId, sequenceAfter(counts), event)];
  const result = await transactWrite(table, [...own, ...items]);
  if (result.written) return result;
  const [seller, , ...reasons] = result.reason;
  return notWritten({ reasons, counts: seller?.item && countsFrom(seller.item) });
};

export class Overtaken {
  /** With them the attempt can be repeated at once; undefined: more of what it read may be old. */
  readonly counts: SellerCounts | undefined;

  constructor(counts: SellerCounts | undefined) {
    this.counts = counts;
  }
}

/**
 * Long from the first conflict on, since each change takes a round trip, so many at once need as many round trips; after two conflicts the
 * competitors are many. See `npm run bench:changes`.
 */
const BETWEEN_ROUNDS: Backoff = [320, 340, 1000, 3400];

/** The attempts of the first rounds; later ones have two. After one conflict few compete at a time; after more, each attempt delays many others. */
const ATTEMPTS = [1, 3];

/**
 * Attempts a change until no other overtakes it. A round begins with a read, and its further attempts take the counts that the failed
 * condition returned. Throws `service_unavailable` at the deadline (monotonic clock): nothing was stored then.
 */
export const changeUsers = <Read extends { readonly counts: SellerCounts }, Result extends object | string>(
  deadlineMs: number,
  read: () => Promise<Read>,
  attempt: (read: Read) => Promise<Result | Overtaken>,
): Promise<Result> =>
  retryUntil<Result>(
    deadlineMs,
    async (rounds) => {
      const found = await read();
      let result = await attempt(found);
      for (let left = (ATTEMPTS[rounds] ?? 2) - 1; left > 0 && result instanceof Overtaken; left -= 1) {
        if (result.counts === undefined) return undefined;
        result = await attempt({ ...found, counts: result.counts });
      }
      return result instanceof Overtaken ? undefined : result;
    },
    BETWEEN_ROUNDS,
  );
