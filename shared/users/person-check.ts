/**
 * One check of a person at a time, five failed ones in 24 hours: pure functions. Machines compare each other's times, so they are wall time;
 * a time that only a wrong clock can have written has no effect.
 */

import * as v from 'valibot';
import { type Problem, problem } from '#shared/problems.ts';

/** Further checks of a person are refused after this many failed ones in the window. */
export const MAX_FAILED_CHECKS = 5;
export const FAILED_CHECKS_WINDOW_SECONDS = 86_400;
const WINDOW_MS = FAILED_CHECKS_WINDOW_SECONDS * 1000;

/** A little over the time limit of the function (20 s): the lease of a holder that crashed expires after this time. */
export const LEASE_SECONDS = 25;
const LEASE_MS = LEASE_SECONDS * 1000;

const checkRecordSchema = v.object({
  /** The last lease that a request took: the right to check the person. */
  lease_id: v.optional(v.string(), ''),
  /** When that lease expires, epoch milliseconds. */
  lease_until: v.optional(v.number(), 0),
  /** The checks that ended, by lease: when a failed one ended (epoch milliseconds), 0 for another end. */
  ended: v.optional(v.record(v.string(), v.number()), {}),
});

export type CheckRecord = v.InferOutput<typeof checkRecordSchema>;

export const checkRecordFrom = (item: unknown): CheckRecord => v.parse(checkRecordSchema, item ?? {});

/** The clocks of two machines may differ by the length of a lease. */
export const isInProgress = ({ lease_id, lease_until, ended }: CheckRecord, nowMs: number): boolean =>
  !(lease_id in ended) && lease_until > nowMs && lease_until - nowMs <= 2 * LEASE_MS;

const recentFailures = ({ ended }: CheckRecord, nowMs: number) =>
  Object.entries(ended).filter(([, endedAtMs]) => Math.abs(nowMs - endedAtMs) < WINDOW_MS);

/** Keeps the failed checks of the last 24 hours. */
export const withLease = (record: CheckRecord, leaseId: string, nowMs: number): CheckRecord => ({
  lease_id: leaseId,
  lease_until: nowMs + LEASE_MS,
  ended: Object.fromEntries(recentFailures(record, nowMs)),
});

/** `too_many_attempts` until the oldest of five failed checks is 24 hours old. */
export const lockRefusal = (record: CheckRecord, nowMs: number): Problem | undefined => {
  const times = recentFailures(record, nowMs).map(([, endedAtMs]) => endedAtMs);
  const oldest = times.sort((a, b) => a - b).at(-MAX_FAILED_CHECKS);
  if (oldest === undefined) return undefined;
  const seconds = Math.ceil((oldest + WINDOW_MS - nowMs) / 1000);
  return problem('too_many_attempts', { retryAfterSeconds: Math.min(FAILED_CHECKS_WINDOW_SECONDS, seconds) });
};

/** For a request that can no longer wait for the check of another. Retry-After is the rest of that one's lease. */
export const busyRefusal = ({ lease_until }: CheckRecord, nowMs: number): Problem => {
  const leftSeconds = Math.ceil((lease_until - nowMs) / 1000);
  return problem('verification_unavailable', {
    retryAfterSeconds: Math.min(LEASE_SECONDS, Math.max(1, leftSeconds)),
    cause: new Error('another request is checking the same person'),
  });
};
