import { randomUUID } from 'node:crypto';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { batchGet, itemOf } from '#shared/table/batch-get.ts';
import type { Table } from '#shared/table/client.ts';
import { type ItemKey, limitKey } from '#shared/table/keys.ts';
import { conditionalWrite, type StoredItem } from '#shared/table/writes.ts';
import { secondsToNextWindow, windowOf } from './windows.ts';

/** A limit on one subject: at most `limit` in each clock window (UTC). */
export interface Limit {
  /** A key id, `<key id>:<limit name>` or `stage:<ceiling>`. Never personal data. */
  readonly subject: string;
  readonly limit: number;
  readonly windowSeconds: number;
}

/** The state of a limit in one window. */
export interface LimitState {
  /** Whether the increment was counted; for a read, whether the next one would be. */
  readonly allowed: boolean;
  readonly remaining: number;
  /** Seconds until the next window begins; at least 1. */
  readonly resetSeconds: number;
}

/** Timeout of a call to the limits' items. The request passes if the calls do not end in time: the usage plan still limits it. */
const TIMEOUT_MS = 1000;

/** A count is kept this long after its window, for the command `usage`. */
const KEEP_SECONDS = 3600;

const timeout = () => ({ abortSignal: AbortSignal.timeout(TIMEOUT_MS) });

/** The key of a limit's item in the window of `nowMs`. */
export const limitItemKey = ({ subject, windowSeconds }: Limit, nowMs: number): ItemKey =>
  limitKey(subject, windowOf(nowMs, windowSeconds));

/** The state of a limit by the items that were read. */
export const limitStateIn = (items: readonly StoredItem[], limit: Limit, nowMs: number): LimitState => {
  const item = itemOf(items, limitItemKey(limit, nowMs));
  const remaining = Math.max(0, limit.limit - Number(item?.count ?? 0));
  return {
    allowed: remaining > 0,
    remaining,
    resetSeconds: secondsToNextWindow(nowMs, limit.windowSeconds),
  };
};

/** Counts against limits in clock windows. Throws the errors of the table; the caller decides what an unreachable store means. */
export const rateLimiter = (table: Table) => {
  const { client, name: TableName } = table;

  return {
    /**
     * Counts one, if the limit leaves room. A refused increment is not counted, so exactly `limit` pass in a window, also after the
     * limit was changed within it. A count that the SDK resends because its response was lost finds its own token and counts once.
     */
    async increment(limit: Limit, nowMs: number): Promise<LimitState> {
      const token = randomUUID();
      const resetSeconds = secondsToNextWindow(nowMs, limit.windowSeconds);
      const result = await conditionalWrite(
        client.send(
          new UpdateCommand({
            TableName,
            Key: limitItemKey(limit, nowMs),
            UpdateExpression:
              'SET #count = if_not_exists(#count, :zero) + :one, last_token = :token, #ttl = :ttl',
            ConditionExpression: 'attribute_not_exists(#count) OR (#count < :limit AND last_token <> :token)',
            ExpressionAttributeNames: { '#count': 'count', '#ttl': 'ttl' },
            ExpressionAttributeValues: {
              ':zero': 0,
              ':one': 1,
              ':limit': limit.limit,
              ':token': token,
              ':ttl': Math.ceil(nowMs / 1000) + limit.windowSeconds + KEEP_SECONDS,
            },
            ReturnValues: 'UPDATED_NEW',
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
          timeout(),
        ),
      );
      const item = result.written ? result.value.Attributes : result.reason;
      const allowed = result.written || item?.last_token === token;
      const remaining = allowed ? Math.max(0, limit.limit - Number(item?.count)) : 0;
      return { allowed, remaining, resetSeconds };
    },

    /** Reads the states of limits in one call; counts nothing. */
    async read(limits: readonly Limit[], nowMs: number): Promise<LimitState[]> {
      const items = await batchGet(
        table,
        limits.map((limit) => limitItemKey(limit, nowMs)),
      );
      return limits.map((limit) => limitStateIn(items, limit, nowMs));
    },

    /** Refunds one that was counted at `nowMs`. */
    async decrement(limit: Limit, nowMs: number): Promise<void> {
      await conditionalWrite(
        client.send(
          new UpdateCommand({
            TableName,
            Key: limitItemKey(limit, nowMs),
            UpdateExpression: 'SET #count = #count - :one',
            ConditionExpression: '#count > :zero',
            ExpressionAttributeNames: { '#count': 'count' },
            ExpressionAttributeValues: { ':zero': 0, ':one': 1 },
          }),
          timeout(),
        ),
      );
    },
  };
};

export type RateLimiter = ReturnType<typeof rateLimiter>;
