/**
 * The rules of the paid checks of one person for one seller: one check at a time, five failed checks in 24 hours. Pure functions of
 * a record and the time. Times are wall time, because machines compare each other's times. `isRecent` and `isInProgress` ignore times
 * that only a wrong clock can have written. So a wrong clock does not lock a person for longer than the rule allows.
 */

import { Problem, problem } from '#shared/problems.ts';

/** Further checks of a person are refused after this many failed ones in the window. */
export const MAX_FAILED_CHECKS = 5;
export const FAILED_CHECKS_WINDOW_SECONDS = 86_400;

/** A little over the time limit of the function (20 s): a holder that crashed is replaced after this time. */
export const LEASE_SECONDS = 25;

/** How far two machines' clocks may differ before a lease counts as expired. */
const CLOCK_TOLERANCE_MS = LEASE_SECONDS * 1000;

const WINDOW_MS = FAILED_CHECKS_WINDOW_SECONDS * 1000;

/** The right to check a person, held by one request. */
interface Lease {
  readonly id: string;
  readonly untilMs: number;
}

/** Why a check did not end in a link. */
export type CheckRefusal =
  | { readonly code: 'identity_mismatch' | 'phone_not_owned' }
  | { readonly code: 'verification_unavailable'; readonly retryAfterSeconds: number };

/** How a check ended. `none`: without a result that others may take over. */
export type CheckResult = CheckRefusal | { readonly code: 'linked' } | { readonly code: 'none' };

/** A check that has ended. */
export type EndedCheck = Exclude<CheckResult, { readonly code: 'none' }> & {
  readonly leaseId: string;
  /** The keyed hash of the birth date and phone that were checked. */
  readonly dataHash: string;
  readonly atMs: number;
  /** The version of the record that this end made. */
  readonly version: number;
};

/** The checks of one person by one seller. */
export interface CheckRecord {
  /** Raised by every write; 0 where nothing is stored. */
  readonly version: number;
  readonly lease?: Lease;
  /** The failed checks of the last 24 hours, and the last check that ended in another way. */
  readonly ended: readonly EndedCheck[];
}

export const NO_CHECKS: CheckRecord = { version: 0, ended: [] };

/** A request that wants a person checked. */
export interface WantedCheck {
  readonly dataHash: string;
  readonly startedAtMs: number;
  /** The version of the record when this request first read it. */
  readonly firstVersion: number;
  /** The version that was read before the person was looked up; links up to it are known. */
  readonly personReadAfterVersion: number;
}

/** The next step of a request. */
export type NextStep =
  | { readonly step: 'check' | 'wait' | 'read-person' }
  | { readonly step: 'refuse'; readonly refusal: CheckRefusal | LockedRefusal };

/** The refusal after too many failed checks. */
export interface LockedRefusal {
  readonly code: 'too_many_attempts';
  readonly retryAfterSeconds: number;
}

/** A verdict against the person: the only ends that count. */
export const isFailed = ({ code }: CheckResult): boolean =>
  code === 'identity_mismatch' || code === 'phone_not_owned';

const isRecent = ({ atMs }: EndedCheck, nowMs: number): boolean => Math.abs(nowMs - atMs) < WINDOW_MS;

const failedOf = ({ ended }: CheckRecord, nowMs: number): readonly EndedCheck[] =>
  ended.filter((check) => isFailed(check) && isRecent(check, nowMs)).sort((a, b) => a.atMs - b.atMs);

const isInProgress = ({ lease }: CheckRecord, nowMs: number): boolean =>
  lease !== undefined &&
  lease.untilMs > nowMs &&
  lease.untilMs - nowMs <= LEASE_SECONDS * 1000 + CLOCK_TOLERANCE_MS;

/** Five failed checks in 24 hours: `too_many_attempts` until the oldest of them is 24 hours old. Undefined if there are fewer. */
export const lockedRefusal = (record: CheckRecord, nowMs: number): LockedRefusal | undefined => {
  const oldest = failedOf(record, nowMs).at(-MAX_FAILED_CHECKS);
  if (oldest === undefined) return undefined;
  const seconds = Math.ceil((oldest.atMs + WINDOW_MS - nowMs) / 1000);
  return {
    code: 'too_many_attempts',
    retryAfterSeconds: Math.min(FAILED_CHECKS_WINDOW_SECONDS, Math.max(1, seconds)),
  };
};

/** The refusal of a check of the same data that ended while this request was under way. */
const sharedRefusal = ({ ended }: CheckRecord, wanted: WantedCheck): CheckRefusal | undefined => {
  const shared = ended.findLast(
    ({ dataHash, version, atMs }) =>
      dataHash === wanted.dataHash && (version > wanted.firstVersion || atMs > wanted.startedAtMs),
  );
  return shared === undefined || shared.code === 'linked' ? undefined : refusalOf(shared);
};

const refusalOf = (check: Exclude<EndedCheck, { readonly code: 'linked' }>): CheckRefusal =>
  check.code === 'verification_unavailable'
    ? { code: check.code, retryAfterSeconds: check.retryAfterSeconds }
    : { code: check.code };

/** Returns the next step of a request that found no link of this person. */
export const nextStep = (record: CheckRecord, wanted: WantedCheck, nowMs: number): NextStep => {
  const linked = record.ended.findLast(({ code }) => code === 'linked');
  if (linked !== undefined && linked.version > wanted.personReadAfterVersion) return { step: 'read-person' };
  const refusal = sharedRefusal(record, wanted) ?? lockedRefusal(record, nowMs);
  if (refusal !== undefined) return { step: 'refuse', refusal };
  return { step: isInProgress(record, nowMs) ? 'wait' : 'check' };
};

/** The record with a new lease. */
export const withLease = (record: CheckRecord, id: string, nowMs: number): CheckRecord => ({
  version: record.version + 1,
  lease: { id, untilMs: nowMs + LEASE_SECONDS * 1000 },
  ended: record.ended,
});

/** The end of a check as its holder reports it. */
export interface CheckEnd {
  readonly leaseId: string;
  readonly dataHash: string;
  readonly result: CheckResult;
}

/**
 * The record after a check has ended. A failed check counts even if another request holds the lease by now. Undefined if the record
 * has this end already, or has nothing to change.
 */
export const withEnd = (record: CheckRecord, end: CheckEnd, nowMs: number): CheckRecord | undefined => {
  const { leaseId, dataHash, result } = end;
  const holdsLease = record.lease?.id === leaseId;
  const isStored = record.ended.some((check) => check.leaseId === leaseId);
  const isCounted = isFailed(result);
  if (isStored || !(holdsLease || isCounted)) return undefined;
  const version = record.version + 1;
  const lease = holdsLease || record.lease === undefined ? {} : { lease: record.lease };
  if (result.code === 'none') return { version, ...lease, ended: record.ended };
  const newEnd: EndedCheck = { ...result, leaseId, dataHash, atMs: nowMs, version };
  return { version, ...lease, ended: [...keptBeside(newEnd, record, nowMs), newEnd] };
};

/** The earlier checks to keep: the failed ones of 24 hours, and the last other one unless the new one replaces it. */
const keptBeside = (newEnd: EndedCheck, { ended }: CheckRecord, nowMs: number): readonly EndedCheck[] => {
  const other = isFailed(newEnd) ? ended.findLast((check) => !isFailed(check)) : undefined;
  return ended.filter((check) => check === other || (isFailed(check) && isRecent(check, nowMs)));
};

/** The refusal as it is thrown. */
export const refusalProblem = (refusal: CheckRefusal | LockedRefusal): Problem =>
  problem(
    refusal.code,
    'retryAfterSeconds' in refusal ? { retryAfterSeconds: refusal.retryAfterSeconds } : {},
  );

/** The result that other requests get for a check that ended with this error. */
export const resultOf = (error: unknown): CheckResult => {
  if (!(error instanceof Problem)) return { code: 'none' };
  const { code, retryAfterSeconds = 1 } = error;
  if (code === 'identity_mismatch' || code === 'phone_not_owned') return { code };
  return code === 'verification_unavailable' ? { code, retryAfterSeconds } : { code: 'none' };
};

/** Epoch seconds after which the record has no effect. */
export const expiresAtSeconds = (nowMs: number): number =>
  Math.ceil(nowMs / 1000) + FAILED_CHECKS_WINDOW_SECONDS + LEASE_SECONDS;

/** How long a request that could not wait any longer should wait before it is sent again, in seconds. */
export const retryAfterWait = ({ lease }: CheckRecord, nowMs: number): number => {
  const seconds = Math.ceil(((lease?.untilMs ?? nowMs) - nowMs) / 1000);
  return Math.min(LEASE_SECONDS, Math.max(1, seconds));
};
