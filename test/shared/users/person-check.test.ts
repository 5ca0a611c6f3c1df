import { routes } from '#shared/routes.ts';
import {
  busyRefusal,
  type CheckRecord,
  checkRecordFrom,
  isInProgress,
  LEASE_SECONDS,
  lockRefusal,
  withLease,
} from '#shared/users/person-check.ts';

const START_MS = Date.parse('2026-11-21T08:00:00Z');
const at = (seconds: number): number => START_MS + seconds * 1000;
const HOUR = 3600;
const DAY = 24 * HOUR;

const NO_CHECKS = checkRecordFrom(undefined);

/** The record of a request that took the lease at this second. */
const leasedAt = (seconds: number): CheckRecord => withLease(NO_CHECKS, 'lease', at(seconds));

/** The record after checks that failed at these seconds, and one that ended without a verdict against the person. */
const failedAt = (...seconds: readonly number[]): CheckRecord => ({
  ...leasedAt(0),
  ended: {
    lease: 0,
    ...Object.fromEntries(seconds.map((second, index) => [`failed ${index}`, at(second)])),
  },
});

describe('a check of a person', () => {
  it('is not in progress when the person was never checked', () => {
    expect(isInProgress(NO_CHECKS, at(0))).toBe(false);
  });

  it('is in progress until its lease expires', () => {
    expect(isInProgress(leasedAt(0), at(LEASE_SECONDS - 1))).toBe(true);
    expect(isInProgress(leasedAt(0), at(LEASE_SECONDS))).toBe(false);
  });

  it('is not in progress after it has ended', () => {
    expect(isInProgress({ ...leasedAt(0), ended: { lease: 0 } }, at(1))).toBe(false);
    expect(isInProgress({ ...leasedAt(0), ended: { other: at(1) } }, at(1))).toBe(true);
  });

  it('is in progress when the clock of its machine is ahead by some seconds, but not by years', () => {
    expect(isInProgress(leasedAt(LEASE_SECONDS), at(0))).toBe(true);
    expect(isInProgress(leasedAt(10 * 365 * DAY), at(0))).toBe(false);
  });
});

describe('the lease', () => {
  it('lasts longer than the function may run', () => {
    expect(LEASE_SECONDS).toBeGreaterThan(routes['create-user'].timeoutSeconds);
  });

  it('keeps the failed checks of the last 24 hours and drops every other end', () => {
    const { lease_id, lease_until, ended } = withLease(failedAt(0, 1, HOUR), 'next', at(DAY));
    expect([lease_id, lease_until]).toEqual(['next', at(DAY + LEASE_SECONDS)]);
    expect(ended).toEqual({ 'failed 1': at(1), 'failed 2': at(HOUR) });
  });

  it('gives a request that cannot wait any longer a Retry-After from 1 second to the length of the lease', () => {
    const waits = [-HOUR, 0, 10, LEASE_SECONDS, HOUR].map((seconds) => busyRefusal(leasedAt(0), at(seconds)));
    expect(waits.map(({ retryAfterSeconds }) => retryAfterSeconds)).toEqual([
      LEASE_SECONDS,
      LEASE_SECONDS,
      LEASE_SECONDS - 10,
      1,
      1,
    ]);
  });
});

describe('too_many_attempts', () => {
  const refusal = (record: CheckRecord, seconds: number) => {
    const { code, retryAfterSeconds } = lockRefusal(record, at(seconds)) ?? {};
    return [code, retryAfterSeconds];
  };
  const FOUR = [0, HOUR, 2 * HOUR, 3 * HOUR] as const;

  it('follows five failed checks in 24 hours, and lasts until the oldest of them is 24 hours old', () => {
    expect(lockRefusal(failedAt(...FOUR), at(4 * HOUR))).toBeUndefined();
    const five = failedAt(...FOUR, 4 * HOUR);
    expect(refusal(five, 5 * HOUR)).toEqual(['too_many_attempts', 19 * HOUR]);
    expect(refusal(five, DAY - 1)).toEqual(['too_many_attempts', 1]);
    expect(lockRefusal(five, at(DAY))).toBeUndefined();
  });

  it('has a Retry-After of at most 24 hours when clocks were stepped back', () => {
    const failures = Array.from({ length: 5 }, () => HOUR);
    expect(refusal(failedAt(...failures), 0)).toEqual(['too_many_attempts', DAY]);
  });

  it('does not follow failures that only a wrong clock can have written', () => {
    const failures = Array.from({ length: 5 }, () => 3650 * DAY);
    expect(lockRefusal(failedAt(...failures), at(0))).toBeUndefined();
  });
});
