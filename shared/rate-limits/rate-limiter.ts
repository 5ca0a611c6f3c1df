import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Table } from '#shared/table/client.ts';
import { whenCondition } from '#shared/table/conditions.ts';
import { limitKey } from '#shared/table/keys.ts';
import { type Standing, secondsToNextWindow, windowOf } from './windows.ts';

/** A limit on one subject: at most `limit` in each clock window. */
export interface Limit {
  /** What is counted: a key id, or `<key id>:<what>` for the hourly limits. Never personal data. */
  readonly subject: string;
  readonly limit: number;
  readonly windowSeconds: number;
}

/** A rate limiter that takes longer than this counts as unreachable: the request passes (the usage plan still stands). */
const PATIENCE_MS = 3000;

/** A window's count is kept this long after the window, for `usage`. */
const KEEP_SECONDS = 3600;

export const rateLimiter = ({ client, name: TableName }: Table) => ({
  /**
   * Counts one request if the window still has room. Refused ones are not counted, so exactly `limit` pass in a window, also
   * after the limit was raised within it.
   */
  async count({ subject, limit, windowSeconds }: Limit, nowMs: number): Promise<Standing> {
    const resetSeconds = secondsToNextWindow(nowMs, windowSeconds);
    const outcome = await whenCondition(
      client.send(
        new UpdateCommand({
          TableName,
          Key: limitKey(subject, windowOf(nowMs, windowSeconds)),
          UpdateExpression: 'SET #count = if_not_exists(#count, :zero) + :one, #ttl = :ttl',
          ConditionExpression: 'attribute_not_exists(#count) OR #count < :limit',
          ExpressionAttributeNames: { '#count': 'count', '#ttl': 'ttl' },
          ExpressionAttributeValues: {
            ':zero': 0,
            ':one': 1,
            ':limit': limit,
            ':ttl': Math.ceil(nowMs / 1000) + windowSeconds + KEEP_SECONDS,
          },
          ReturnValues: 'UPDATED_NEW',
        }),
        { abortSignal: AbortSignal.timeout(PATIENCE_MS) },
      ),
    );
    if (!('done' in outcome)) return { admitted: false, remaining: 0, resetSeconds };
    return { admitted: true, remaining: limit - Number(outcome.done.Attributes?.count), resetSeconds };
  },

  /** Where a subject stands, with nothing counted. `admitted` says whether the next one would be. */
  async standing({ subject, limit, windowSeconds }: Limit, nowMs: number): Promise<Standing> {
    const { Item } = await client.send(
      new GetCommand({
        TableName,
        Key: limitKey(subject, windowOf(nowMs, windowSeconds)),
        ConsistentRead: true,
      }),
      { abortSignal: AbortSignal.timeout(PATIENCE_MS) },
    );
    const remaining = Math.max(0, limit - Number(Item?.count ?? 0));
    return {
      admitted: remaining > 0,
      remaining,
      resetSeconds: secondsToNextWindow(nowMs, windowSeconds),
    };
  },

  /** Takes back one that was counted at `nowMs`. */
  async giveBack({ subject, windowSeconds }: Limit, nowMs: number): Promise<void> {
    await whenCondition(
      client.send(
        new UpdateCommand({
          TableName,
          Key: limitKey(subject, windowOf(nowMs, windowSeconds)),
          UpdateExpression: 'SET #count = #count - :one',
          ConditionExpression: '#count > :zero',
          ExpressionAttributeNames: { '#count': 'count' },
          ExpressionAttributeValues: { ':zero': 0, ':one': 1 },
        }),
        { abortSignal: AbortSignal.timeout(PATIENCE_MS) },
      ),
    );
  },
});

export type RateLimiter = ReturnType<typeof rateLimiter>;
