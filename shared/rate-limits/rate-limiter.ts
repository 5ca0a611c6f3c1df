import { randomUUID } from 'node:crypto';
import { UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import { runsInLambda } from '#shared/env.ts';
import type { Table } from '#shared/table/client.ts';
import { type ItemKey, limitSortKey, limitsPartition } from '#shared/table/keys.ts';
import { batchGet, itemOf } from '#shared/table/reads.ts';
import { conditionalWrite, type StoredItem } from '#shared/table/writes.ts';
import { DAY_SECONDS, HOUR_SECONDS, KEPT_DAYS, type Limit, type LimitState } from './plans.ts';

/** The number of the clock window (UTC) that `nowMs` lies in, counted from the epoch. */
export const windowOf = (nowMs: number, windowSeconds: number): number =>
  Math.floor(nowMs / 1000 / windowSeconds);

/** Whole seconds until the next window begins, rounded up: from 1 to `windowSeconds`. */
export const secondsToNextWindow = (nowMs: number, windowSeconds: number): number =>
  Math.max(1, Math.ceil((windowOf(nowMs, windowSeconds) + 1) * windowSeconds - nowMs / 1000));

const KEEP_SECONDS = KEPT_DAYS * DAY_SECONDS;

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

export const stateIn = (item: StoredItem | undefined, limit: Limit, nowMs: number): LimitState => {
  const remaining = Math.max(0, limit.limit - Number(item?.[countAttribute(limit, nowMs)] ?? 0));
  return {
    allowed: remaining > 0,
    remaining,
    resetSeconds: secondsToNextWindow(nowMs, limit.windowSeconds),
  };
};

/** Throws the errors of the table; the caller decides what an unreachable store means. */
export const rateLimiter = (table: Table, timeoutMs: number) => {
  const { client, name: TableName } = table;
  const timeout = () => ({ abortSignal: AbortSignal.timeout(timeoutMs) });
  const update = (limit: Limit, nowMs: number, change: Omit<UpdateCommandInput, 'TableName' | 'Key'>) => {
    const command = new UpdateCommand({ TableName, Key: limitKey(limit, nowMs), ...change });
    return conditionalWrite(client.send(command, timeout()));
  };

  /**
   * Counts one, if the limit leaves room: exactly `limit` pass in a window, also after the limit was changed. A count that the SDK resends
   * finds its own token. Also returns the states of `others` of the same subject whose window is at most an hour.
   */
  const incrementAndRead = async (
    limit: Limit,
    others: readonly Limit[],
    nowMs: number,
  ): Promise<[LimitState, ...LimitState[]]> => {
    const token = randomUUID();
    const result = await update(limit, nowMs, {
      UpdateExpression: 'SET #count = if_not_exists(#count, :zero) + :one, last_token = :token, #ttl = :ttl',
      ConditionExpression: 'attribute_not_exists(#count) OR (#count < :limit AND last_token <> :token)',
      ExpressionAttributeNames: { '#count': countAttribute(limit, nowMs), '#ttl': 'ttl' },
      ExpressionAttributeValues: {
        ':zero': 0,
        ':one': 1,
        ':limit': limit.limit,
        ':token': token,
        ':ttl': Math.ceil(nowMs / 1000) + itemSeconds(limit) + KEEP_SECONDS,
      },
      ReturnValues: 'ALL_NEW',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    const item = result.written ? result.value.Attributes : result.reason;
    const allowed = result.written || item?.last_token === token;
    return [
      { ...stateIn(item, limit, nowMs), allowed },
      ...others.map((other) => stateIn(item, other, nowMs)),
    ];
  };

  return {
    incrementAndRead,

    /** A limit of 0 leaves no room for a first one. */
    increment: async (limit: Limit, nowMs: number): Promise<LimitState> =>
      limit.limit === 0 ? stateIn(undefined, limit, nowMs) : (await incrementAndRead(limit, [], nowMs))[0],

    async read(limits: readonly Limit[], nowMs: number): Promise<LimitState[]> {
      const keys = new Map(
        limits.map((limit) => limitKey(limit, nowMs)).map((key) => [`${key.pk} ${key.sk}`, key]),
      );
      const items = await batchGet(table, [...keys.values()], timeout());
      return limits.map((limit) => stateIn(itemOf(items, limitKey(limit, nowMs)), limit, nowMs));
    },

    /** Refunds one that was counted at `nowMs`; once, if the SDK resends it. */
    async decrement(limit: Limit, nowMs: number): Promise<void> {
      await update(limit, nowMs, {
        UpdateExpression: 'SET #count = #count - :one, last_token = :token',
        ConditionExpression: '#count > :zero AND last_token <> :token',
        ExpressionAttributeNames: { '#count': countAttribute(limit, nowMs) },
        ExpressionAttributeValues: { ':zero': 0, ':one': 1, ':token': randomUUID() },
      });
    },
  };
};

export type RateLimiter = ReturnType<typeof rateLimiter>;

/** The longest time of a call in Lambda. The request then passes uncounted: the usage plan still limits it. */
const TIMEOUT_MS = 1000;

/** On one machine a process serves all requests at once, so a late response of the limiter's store may be the fault of the process. */
const LOCAL_TIMEOUT_MS = 3000;

export const rateLimiterFromEnv = (table: Table): RateLimiter =>
  rateLimiter(table, runsInLambda() ? TIMEOUT_MS : LOCAL_TIMEOUT_MS);
