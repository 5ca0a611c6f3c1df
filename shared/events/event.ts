import { DAY_SECONDS } from '#shared/clock.ts';
import type { Table } from '#shared/table/client.ts';
import type { ItemKey } from '#shared/table/keys.ts';
import type { TransactItem } from '#shared/table/writes.ts';

/** Who removed a user: the seller, an operator at the seller's request, an operator who erased the buyer for all sellers, or the buyer. */
export const REMOVAL_REASONS = ['seller', 'operator', 'erasure', 'buyer'] as const;

export type RemovalReason = (typeof REMOVAL_REASONS)[number];

/** A change of one user of a seller. It holds ids only, so that an erased buyer leaves nothing in it. */
export type UserEvent = {
  readonly userId: string;
  /** ISO, UTC. */
  readonly occurredAt: string;
} & (
  | { readonly type: 'user.linked' | 'user.updated' }
  | { readonly type: 'user.removed'; readonly reason: RemovalReason }
);

/** How long sellers can read an event. */
export const KEEP_EVENTS_DAYS = 30;

/** DynamoDB deletes an event a day after sellers can no longer read it: its clock may differ from that of a function. */
const DELETE_AFTER_SECONDS = (KEEP_EVENTS_DAYS + 1) * DAY_SECONDS;

/** Writes an event under a key of `eventKey`. Its condition fails if there is an event of this number already. */
export const eventPut = (
  { name: TableName }: Pick<Table, 'name'>,
  key: ItemKey,
  event: UserEvent,
): TransactItem => ({
  Put: {
    TableName,
    Item: {
      ...key,
      type: event.type,
      user_id: event.userId,
      ...('reason' in event ? { reason: event.reason } : {}),
      occurred_at: event.occurredAt,
      ttl: Math.ceil(Date.parse(event.occurredAt) / 1000) + DELETE_AFTER_SECONDS,
    },
    ConditionExpression: 'attribute_not_exists(pk)',
  },
});
