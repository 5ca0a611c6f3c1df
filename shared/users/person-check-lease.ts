import { randomUUID } from 'node:crypto';
import { PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Clock } from '#shared/clock.ts';
import { Problem } from '#shared/problems.ts';
import type { KeyLimits } from '#shared/rate-limits/request-limits.ts';
import type { Table } from '#shared/table/client.ts';
import { personCheckKey } from '#shared/table/keys.ts';
import * as writes from '#shared/table/writes.ts';
import {
  busyRefusal,
  type CheckRecord,
  FAILED_CHECKS_WINDOW_SECONDS,
  isInProgress,
  LEASE_SECONDS,
  lockRefusal,
  withLease,
} from './person-check.ts';

/** A wait ends this long before the deadline: a check that begins later would rarely end in time. */
const CHECK_RESERVE_MS = 6000;

/** After this time a record has no effect. */
const KEEP_SECONDS = FAILED_CHECKS_WINDOW_SECONDS + LEASE_SECONDS;

/** A check to make. During a rotation of the hash secret, the hash under the current key counts. */
export interface CheckRequest {
  readonly sellerId: string;
  readonly personHash: string;
  /** As this request read them. */
  readonly record: CheckRecord;
  /** In milliseconds of the monotonic clock (performance.now()). */
  readonly deadlineMs: number;
  readonly limits: Pick<KeyLimits, 'consume'>;
}

/** Only a verdict against the person counts. */
const isFailed = (error: unknown): boolean =>
  error instanceof Problem && (error.code === 'identity_mismatch' || error.code === 'phone_not_owned');

export const personChecks = ({ client, name: TableName }: Table, clock: Clock) => {
  const keyOf = ({ sellerId, personHash }: CheckRequest) => personCheckKey(sellerId, personHash);
  const ttl = (nowMs: number) => Math.ceil(nowMs / 1000) + KEEP_SECONDS;

  /** Takes the lease, unless another request has taken it since the record was read. */
  const take = async (request: CheckRequest, leaseId: string): Promise<boolean> => {
    const nowMs = clock();
    const command = new PutCommand({
      TableName,
      Item: { ...keyOf(request), ...withLease(request.record, leaseId, nowMs), ttl: ttl(nowMs) },
      ConditionExpression: 'attribute_not_exists(pk) OR lease_id = :read',
      ExpressionAttributeValues: { ':read': request.record.lease_id },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    const result = await writes.retriedWrite(() => client.send(command));
    // If a first response was lost, the resent write finds the lease of this request.
    return result.written || result.reason?.lease_id === leaseId;
  };

  /** Releases the lease. It has no condition, so it never cancels a link, and counts a failed check once if it is sent twice. */
  const ending = (request: CheckRequest, leaseId: string, failed: boolean) => ({
    TableName,
    Key: keyOf(request),
    UpdateExpression: 'SET ended.#lease = :ended, #ttl = :ttl',
    ExpressionAttributeNames: { '#lease': leaseId, '#ttl': 'ttl' },
    ExpressionAttributeValues: { ':ended': failed ? clock() : 0, ':ttl': ttl(clock()) },
  });

  return {
    /**
     * Runs `check` while no other request checks the person; else returns `busy`, or throws `verification_unavailable` near the deadline. `check`
     * writes `release` in the transaction of its result; undefined: it did not write. Throws `too_many_attempts`, and `rate_limit_exceeded`
     * in place of a verdict beyond the failed checks of the key.
     */
    async oneAtATime<Value>(
      request: CheckRequest,
      check: (release: writes.TransactItem) => Promise<Value | undefined>,
    ): Promise<Value | 'busy' | undefined> {
      const { record, deadlineMs, limits } = request;
      const refusal = lockRefusal(record, clock());
      if (refusal !== undefined) throw refusal;
      const leaseId = randomUUID();
      if (isInProgress(record, clock()) || !(await take(request, leaseId))) {
        if (performance.now() > deadlineMs - CHECK_RESERVE_MS) throw busyRefusal(record, clock());
        return 'busy';
      }
      const end = (failed: boolean) => client.send(new UpdateCommand(ending(request, leaseId, failed)));
      try {
        const result = await check({ Update: ending(request, leaseId, false) });
        if (result === undefined) await end(false);
        return result;
      } catch (error) {
        if (!isFailed(error)) {
          // If this cannot be stored, the lease expires by itself.
          await end(false).catch(() => {});
          throw error;
        }
        // Counted for the key first: a request that waited for the lease then reads the new count.
        const [counted] = await Promise.allSettled([limits.consume('failed-checks-per-hour')]);
        await end(true);
        throw counted.status === 'rejected' ? counted.reason : error;
      }
    },
  };
};
