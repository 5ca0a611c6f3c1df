import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { HOUR_SECONDS } from '#shared/clock.ts';
import { runsInLambda } from '#shared/env.ts';
import type { Table } from '#shared/table/client.ts';
import { type ItemKey, limitSortKey, limitsPartition } from '#shared/table/keys.ts';
import { itemOf } from '#shared/table/reads.ts';
import { conditionalWrite, type StoredItem, sentOnce } from '#shared/table/writes.ts';
import {
  type Limit,
  type LimitState,
  type LimitStates,
  secondsToNextWindow,
  windowEnd,
  windowOf,
} from './limit.ts';

/** The window of an item. One item holds the counts of a subject in a clock hour, so that one call counts and reads several limits. */
const itemSeconds = ({ windowSeconds }: Limit): number => Math.max(windowSeconds, HOUR_SECONDS);

export const limitKey = (limit: Limit, nowMs: number): ItemKey => {
  const seconds = itemSeconds(limit);
  return {
    pk: limitsPartition(limit.subject),
    sk: limitSortKey(seconds === HOUR_SECONDS ? 'HOUR' : 'DAY', windowOf(nowMs, seconds)),
  };
};

/** A window shorter than the item's has its number in the attribute: `minute_34`. */
const countAttribute = (limit: Limit, nowMs: number): string => {
  const { name, windowSeconds } = limit;
  const windowsPerItem = itemSeconds(limit) / windowSeconds;
  return windowsPerItem === 1 ? name : `${name}_${windowOf(nowMs, windowSeconds) % windowsPerItem}`;
};

/** How many were counted, which can be more than a limit that was lowered since. */
export const countIn = (item: StoredItem | undefined, limit: Limit, nowMs: number): number =>
  Number(item?.[countAttribute(limit, nowMs)] ?? 0);

export const stateIn = (item: StoredItem | undefined, limit: Limit, nowMs: number): LimitState => {
  const remaining = Math.max(0, limit.limit - countIn(item, limit, nowMs));
  return {
    allowed: remaining > 0,
    remaining,
    resetSeconds: secondsToNextWindow(nowMs, limit.windowSeconds),
    endsAt: windowEnd(nowMs, limit.windowSeconds),
  };
};

export const statesIn = (
  items: readonly StoredItem[],
  limits: readonly Limit[],
  nowMs: number,
): LimitStates =>
  new Map(limits.map((limit) => [limit.name, stateIn(itemOf(items, limitKey(limit, nowMs)), limit, nowMs)]));

/** The update that adds to a count, if the limit leaves room. It returns the item in either case. */
const addition = (limit: Limit, nowMs: number, amount: 0 | 1) =>
  ({
    Key: limitKey(limit, nowMs),
    UpdateExpression: 'SET #count = if_not_exists(#count, :zero) + :amount, #ttl = :ttl',
    ConditionExpression: 'attribute_not_exists(#count) OR #count < :limit',
    ExpressionAttributeNames: { '#count': countAttribute(limit, nowMs), '#ttl': 'ttl' },
    ExpressionAttributeValues: {
      ':zero': 0,
      ':amount': amount,
      ':limit': limit.limit,
      ':ttl': windowEnd(nowMs, itemSeconds(limit)) + limit.keptSeconds,
    },
    ReturnValues: 'ALL_NEW',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  }) as const;

/** Throws the errors of the table; the caller decides what an unreachable store means. */
export const rateLimiter = (table: Table, timeoutMs: number) => {
  const { client, name: TableName } = table;
  const timeout = () => ({ abortSignal: AbortSignal.timeout(timeoutMs) });

  /** Adds to a count, if the limit leaves room. Returns whether it did, and the item as it is now. */
  const add = async (limit: Limit, nowMs: number, amount: 0 | 1) => {
    const command = new UpdateCommand({ TableName, ...addition(limit, nowMs, amount) });
    const result = await conditionalWrite(client.send(command, timeout()));
    const item = result.written ? result.value.Attributes : result.reason;
    return { state: { ...stateIn(item, limit, nowMs), allowed: result.written }, item };
  };

  return {
    /**
     * Counts one, if the limit leaves room: exactly `limit` pass in a window, also after the limit was changed; fewer if the SDK resends a
     * count whose response was lost. Also returns the states of `others` of the same subject whose window is at most an hour.
     */
    async incrementAndRead(
      limit: Limit,
      others: readonly Limit[],
      nowMs: number,
    ): Promise<[LimitState, ...LimitState[]]> {
      const { state, item } = await add(limit, nowMs, 1);
      return [state, ...others.map((other) => stateIn(item, other, nowMs))];
    },

    /**
     * A limit of 0 leaves no room for a first one. `amount` 0: sends the same write and returns the same state, but adds nothing, so that
     * its time does not tell what was counted.
     */
    increment: async (limit: Limit, nowMs: number, amount: 0 | 1 = 1): Promise<LimitState> =>
      limit.limit === 0 ? stateIn(undefined, limit, nowMs) : (await add(limit, nowMs, amount)).state,

    /** Refunds one that was counted at `nowMs`. It is sent once: if its response is lost, a second one could refund what another counted. */
    async decrement(limit: Limit, nowMs: number): Promise<void> {
      const command = new UpdateCommand({
        TableName,
        Key: limitKey(limit, nowMs),
        UpdateExpression: 'SET #count = #count - :one',
        ConditionExpression: '#count > :zero',
        ExpressionAttributeNames: { '#count': countAttribute(limit, nowMs) },
        ExpressionAttributeValues: { ':zero': 0, ':one': 1 },
      });
      await conditionalWrite(client.send(sentOnce(command), timeout()));
    },
  };
};

export type RateLimiter = ReturnType<typeof rateLimiter>;

/** The longest time of a call in Lambda. */
const TIMEOUT_MS = 1000;

/** On one machine a process serves all requests at once, so a late response of the limiter's store may be the fault of the process. */
const LOCAL_TIMEOUT_MS = 3000;

export const rateLimiterFromEnv = (table: Table): RateLimiter =>
  rateLimiter(table, runsInLambda() ? TIMEOUT_MS : LOCAL_TIMEOUT_MS);
