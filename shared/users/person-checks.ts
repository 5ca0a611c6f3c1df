/**
 * The rules of the paid checks of one person for one seller: one check at a time, five failed checks in 24 hours. Pure functions of
 * a record and the time. Times are wall time, because machines compare each other's times. `isRecent` and `isInProgress` ignore times
 * that only a wrong clock can have written. So a wrong clock does not lock a person for longer than the rule allows.
 */

import * as v from 'valibot';
import { Problem, problem } from '#shared/problems.ts';

/** Further checks of a person are refused after this many failed ones in the window. */
export const MAX_FAILED_CHECKS = 5;
export const FAILED_CHECKS_WINDOW_SECONDS = 86_400;

/** A little over the time limit of the function (20 s): a holder that crashed is replaced after this time. */
export const LEASE_SECONDS = 25;

/** How far two machines' clocks may differ before a lease counts as expired. */
const CLOCK_TOLERANCE_MS = LEASE_SECONDS * 1000;

const WINDOW_MS = FAILED_CHECKS_WINDOW_SECONDS * 1000;

/** A check that has ended, as it is stored. */
const endedCheckSchema = v.object({
  lease_id: v.string(),
  /** The keyed hash of the birth date and phone that were checked. */
  data_hash: v.string(),
  /** Epoch milliseconds. */
  at: v.number(),
  /** The version of the record that this end made. */
  version: v.number(),
  code: v.picklist(['linked', 'identity_mismatch', 'phone_not_owned', 'verification_unavailable']),
  /** In seconds, of `verification_unavailable` only. */
  retry_after: v.optional(v.number()),
});

export type EndedCheck = v.InferOutput<typeof endedCheckSchema>;

/** The checks of one person by one seller, as they are stored. */
const checkRecordSchema = v.object({
  /** Raised by every write; 0 where nothing is stored. */
  version: v.number(),
  /** The right to check the person, held by one request until `lease_until` (epoch milliseconds). */
  lease_id: v.optional(v.string()),
  lease_until: v.optional(v.number()),
  /** The failed checks of the last 24 hours, and the last check that ended in another way. */
  ended: v.array(endedCheckSchema),
});

export type CheckRecord = v.InferOutput<typeof checkRecordSchema>;

/** The record of a person that was never checked. */
export const NO_CHECKS: CheckRecord = { version: 0, ended: [] };

/** Returns the record of an item that was read. */
export const checkRecordFrom = (item: unknown): CheckRecord => v.parse(checkRecordSchema, item ?? NO_CHECKS);

/** How a check ended; undefined if others cannot take that over. */
export type CheckResult = Pick<EndedCheck, 'code' | 'retry_after'> | undefined;

/** A request that wants a person checked. */
export interface WantedCheck {
  /** The keyed hash of the birth date and phone to be checked. */
  readonly dataHash: string;
  readonly startedAtMs: number;
  /** The record as this request read it first. */
  readonly record: CheckRecord;
}

/** Returns whether a check ended with a verdict against the person: the only ends that count. */
export const isFailed = (result: CheckResult): boolean =>
  result?.code === 'identity_mismatch' || result?.code === 'phone_not_owned';

const isRecent = ({ at }: EndedCheck, nowMs: number): boolean => Math.abs(nowMs - at) < WINDOW_MS;

/** Returns whether a request holds the lease. */
export const isInProgress = ({ lease_until = 0 }: CheckRecord, nowMs: number): boolean =>
  lease_until > nowMs && lease_until - nowMs <= LEASE_SECONDS * 1000 + CLOCK_TOLERANCE_MS;

/** Returns whether a check that ended after `version` linked the person. */
export const isLinkedAfter = ({ ended }: CheckRecord, version: number): boolean =>
  ended.some((check) => check.code === 'linked' && check.version > version);

/** Five failed checks in 24 hours: `too_many_attempts` until the oldest of them is 24 hours old. */
const lockedRefusal = ({ ended }: CheckRecord, nowMs: number): Problem | undefined => {
  const failures = ended.filter((check) => isFailed(check) && isRecent(check, nowMs)).map(({ at }) => at);
  const oldest = failures.sort((a, b) => a - b).at(-MAX_FAILED_CHECKS);
  if (oldest === undefined) return undefined;
  const seconds = Math.ceil((oldest + WINDOW_MS - nowMs) / 1000);
  const retryAfterSeconds = Math.min(FAILED_CHECKS_WINDOW_SECONDS, Math.max(1, seconds));
  return problem('too_many_attempts', { retryAfterSeconds });
};

/** The refusal of a check of the same data that ended while this request was under way. */
const sharedRefusal = ({ ended }: CheckRecord, wanted: WantedCheck): Problem | undefined => {
  const shared = ended.findLast(
    ({ data_hash, version, at }) =>
      data_hash === wanted.dataHash && (version > wanted.record.version || at > wanted.startedAtMs),
  );
  if (shared === undefined || shared.code === 'linked') return undefined;
  return problem(shared.code, { retryAfterSeconds: shared.retry_after });
};

/** Returns why a request must not make a check of its own, or undefined. */
export const refusalOf = (record: CheckRecord, wanted: WantedCheck, nowMs: number): Problem | undefined =>
  sharedRefusal(record, wanted) ?? lockedRefusal(record, nowMs);

/** Returns the record with a new lease. */
export const withLease = (record: CheckRecord, id: string, nowMs: number): CheckRecord => ({
  version: record.version + 1,
  lease_id: id,
  lease_until: nowMs + LEASE_SECONDS * 1000,
  ended: record.ended,
});

/**
 * Returns the record after a check has ended. A failed check counts even if another request holds the lease by now. Undefined if the
 * record has this end already, or has nothing to change.
 */
export const withEnd = (
  record: CheckRecord,
  end: { readonly leaseId: string; readonly dataHash: string; readonly result: CheckResult },
  nowMs: number,
): CheckRecord | undefined => {
  const { leaseId, dataHash, result } = end;
  const holdsLease = record.lease_id === leaseId;
  const isStored = record.ended.some((check) => check.lease_id === leaseId);
  if (isStored || !(holdsLease || isFailed(result))) return undefined;
  const version = record.version + 1;
  const replacesOther = result !== undefined && !isFailed(result);
  const kept = record.ended.filter((check) => (isFailed(check) ? isRecent(check, nowMs) : !replacesOther));
  const ended = result && { ...result, lease_id: leaseId, data_hash: dataHash, at: nowMs, version };
  return {
    ...record,
    ...(holdsLease ? { lease_id: undefined, lease_until: undefined } : {}),
    version,
    ended: ended === undefined ? kept : [...kept, ended],
  };
};

/** Returns the result that other requests get for a check that ended with this error. */
export const resultOf = (error: unknown): CheckResult => {
  if (!(error instanceof Problem)) return undefined;
  const { code, retryAfterSeconds = 1 } = error;
  if (code === 'identity_mismatch' || code === 'phone_not_owned') return { code };
  return code === 'verification_unavailable' ? { code, retry_after: retryAfterSeconds } : undefined;
};

/** Returns how long a request that could not wait any longer should wait before it is sent again, in seconds. */
export const retryAfterWait = ({ lease_until = 0 }: CheckRecord, nowMs: number): number =>
  Math.min(LEASE_SECONDS, Math.max(1, Math.ceil((lease_until - nowMs) / 1000)));
