import { routes } from '#shared/routes.ts';
import {
  type CheckRecord,
  type CheckResult,
  type EndedCheck,
  isInProgress,
  isLinkedAfter,
  LEASE_SECONDS,
  NO_CHECKS,
  refusalOf,
  retryAfterWait,
  type WantedCheck,
  withEnd,
  withLease,
} from '#shared/users/person-checks.ts';

const START_MS = Date.parse('2026-11-21T08:00:00Z');
const at = (seconds: number): number => START_MS + seconds * 1000;
const HOUR = 3600;
const DAY = 24 * HOUR;

/** A request that read an empty record at the start. */
const wanted = (changes: Partial<WantedCheck> = {}): WantedCheck => ({
  dataHash: 'data',
  startedAtMs: START_MS,
  record: NO_CHECKS,
  ...changes,
});

/** The record after checks that began and ended at these seconds. */
const afterChecks = (...checks: { result: CheckResult; seconds: number; dataHash?: string }[]): CheckRecord =>
  checks.reduce((record, { result, seconds, dataHash = 'data' }, index) => {
    const leaseId = `lease ${index}`;
    const held = withLease(record, leaseId, at(seconds));
    return withEnd(held, { leaseId, dataHash, result }, at(seconds)) ?? held;
  }, NO_CHECKS);

const mismatchAt = (seconds: number) => ({ result: { code: 'identity_mismatch' } as const, seconds });

const UNAVAILABLE = { code: 'verification_unavailable', retry_after: 17 } as const;

/** The refusal, or what the request does without one. */
const nextStep = (record: CheckRecord, request: WantedCheck, nowMs: number) => {
  const refusal = refusalOf(record, request, nowMs);
  if (refusal !== undefined) return { code: refusal.code, retry_after: refusal.retryAfterSeconds };
  return isInProgress(record, nowMs) ? 'wait' : 'check';
};

describe('the next step', () => {
  it('is a check when no check was made before', () => {
    expect(nextStep(NO_CHECKS, wanted(), at(0))).toBe('check');
  });

  it('is to wait while another request holds the lease, for the same and for other data', () => {
    const record = withLease(NO_CHECKS, 'other', at(0));
    expect(nextStep(record, wanted(), at(LEASE_SECONDS - 1))).toBe('wait');
    expect(nextStep(record, wanted({ dataHash: 'other data' }), at(1))).toBe('wait');
  });

  it('is a check when the lease has expired', () => {
    const record = withLease(NO_CHECKS, 'crashed', at(0));
    expect(nextStep(record, wanted(), at(LEASE_SECONDS))).toBe('check');
  });

  it('is a check when only a wrong clock can have written the lease', () => {
    const record = withLease(NO_CHECKS, 'wrong clock', at(10 * 365 * DAY));
    expect(nextStep(record, wanted(), at(0))).toBe('check');
  });

  it('is to wait when the clock of the holder is ahead by some seconds', () => {
    const record = withLease(NO_CHECKS, 'ahead', at(10));
    expect(nextStep(record, wanted(), at(0))).toBe('wait');
  });

  it('is a check after a link, which is known by the version of the record', () => {
    const record = afterChecks({ result: { code: 'linked' }, seconds: 1 });
    expect(isLinkedAfter(record, 0)).toBe(true);
    expect(isLinkedAfter(record, record.version)).toBe(false);
    expect(nextStep(record, wanted(), at(2))).toBe('check');
  });

  it.each([[{ code: 'identity_mismatch' }], [{ code: 'phone_not_owned' }], [UNAVAILABLE]] as const)(
    'is the refusal of a check of the same data that ended after the record was first read: %j',
    (result) => {
      const record = afterChecks({ result, seconds: 0 });
      expect(nextStep(record, wanted(), at(0))).toEqual(result);
    },
  );

  it('is the refusal of a check of the same data that ended after the request began', () => {
    const record = afterChecks(mismatchAt(1));
    const late = wanted({ record });
    expect(nextStep(record, late, at(1))).toEqual({ code: 'identity_mismatch' });
  });

  it('is a check of its own when the same data were refused before the request began', () => {
    const record = afterChecks(mismatchAt(1));
    const later = wanted({ record, startedAtMs: at(2) });
    expect(nextStep(record, later, at(2))).toBe('check');
  });

  it('is a check of its own when other data were refused', () => {
    const record = afterChecks({ ...mismatchAt(1), dataHash: 'other data' });
    expect(nextStep(record, wanted(), at(1))).toBe('check');
  });

  it('finds the refusal of the same data behind later checks of other data', () => {
    const record = afterChecks(mismatchAt(1), { ...mismatchAt(2), dataHash: 'other data' });
    expect(nextStep(record, wanted(), at(2))).toEqual({ code: 'identity_mismatch' });
  });
});

describe('too_many_attempts', () => {
  const others = (record: CheckRecord, seconds: number) =>
    nextStep(record, wanted({ dataHash: 'new data', startedAtMs: at(seconds) }), at(seconds));

  it('follows five failed checks in 24 hours, and lasts until the oldest of them is 24 hours old', () => {
    const four = [0, HOUR, 2 * HOUR, 3 * HOUR].map(mismatchAt);
    expect(others(afterChecks(...four), 4 * HOUR)).toBe('check');
    const five = afterChecks(...four, { result: { code: 'phone_not_owned' }, seconds: 4 * HOUR });
    expect(others(five, 5 * HOUR)).toEqual({ code: 'too_many_attempts', retry_after: 19 * HOUR });
    expect(others(five, DAY - 1)).toMatchObject({ retry_after: 1 });
    expect(others(five, DAY)).toBe('check');
  });

  it('does not follow checks that ended without a verdict against the person', () => {
    const results = [UNAVAILABLE, { code: 'linked' }, undefined] as const;
    const checks = Array.from({ length: 9 }, (_, seconds) => ({
      result: results[seconds % 3],
      seconds,
    }));
    expect(others(afterChecks(...checks), 10)).toBe('check');
  });

  it('has a Retry-After of at most 24 hours when clocks were stepped back', () => {
    const record = afterChecks(...Array.from({ length: 5 }, () => mismatchAt(HOUR)));
    expect(others(record, 0)).toEqual({ code: 'too_many_attempts', retry_after: DAY });
  });

  it('does not follow failures that only a wrong clock can have written', () => {
    const record = afterChecks(...Array.from({ length: 5 }, () => mismatchAt(3650 * DAY)));
    expect(others(record, 0)).toBe('check');
  });
});

describe('the end of a check', () => {
  const held = withLease(afterChecks(mismatchAt(0)), 'mine', at(1));
  const end = (result: CheckResult) => ({ leaseId: 'mine', dataHash: 'data', result });

  it.each([[{ code: 'identity_mismatch' }], [UNAVAILABLE], [{ code: 'linked' }], [undefined]] as const)(
    'releases the lease and raises the version: %j',
    (result) => {
      const record = withEnd(held, end(result), at(2));
      expect(record?.lease_until).toBeUndefined();
      expect(record?.version).toBe(held.version + 1);
    },
  );

  it('is stored once, also when the response of the write was lost', () => {
    const record = withEnd(held, end({ code: 'identity_mismatch' }), at(2)) as CheckRecord;
    expect(withEnd(record, end({ code: 'identity_mismatch' }), at(2))).toBeUndefined();
  });

  it('changes nothing when another request holds the lease and no verdict was given', () => {
    expect(withEnd(withLease(held, 'other', at(40)), end(UNAVAILABLE), at(41))).toBeUndefined();
  });

  it('counts a verdict although another request holds the lease, and leaves it that lease', () => {
    const heldByOther = withLease(held, 'other', at(40));
    const record = withEnd(heldByOther, end({ code: 'phone_not_owned' }), at(41));
    expect(record?.lease_until).toBe(heldByOther.lease_until);
    expect(record?.ended.map(({ code }) => code)).toEqual(['identity_mismatch', 'phone_not_owned']);
  });

  it('keeps the failed checks of 24 hours and the last check that ended in another way', () => {
    const codes = (...checks: Parameters<typeof afterChecks>) =>
      afterChecks(...checks).ended.map(({ code, at: endedAt }: EndedCheck) => [
        code,
        (endedAt - START_MS) / 1000,
      ]);
    expect(codes(mismatchAt(0), mismatchAt(DAY))).toEqual([['identity_mismatch', DAY]]);
    expect(
      codes({ result: { code: 'linked' }, seconds: 1 }, mismatchAt(2), { result: UNAVAILABLE, seconds: 3 }),
    ).toEqual([
      ['identity_mismatch', 2],
      ['verification_unavailable', 3],
    ]);
    expect(codes({ result: { code: 'linked' }, seconds: 1 }, mismatchAt(2))).toEqual([
      ['linked', 1],
      ['identity_mismatch', 2],
    ]);
  });
});

describe('the lease', () => {
  it('lasts longer than the function may run', () => {
    expect(LEASE_SECONDS).toBeGreaterThan(routes['create-user'].timeoutSeconds);
  });

  it('gives a request that cannot wait any longer a Retry-After from 1 second to the length of the lease', () => {
    const record = withLease(NO_CHECKS, 'other', at(0));
    expect([-HOUR, 0, 10, LEASE_SECONDS, HOUR].map((seconds) => retryAfterWait(record, at(seconds)))).toEqual(
      [LEASE_SECONDS, LEASE_SECONDS, LEASE_SECONDS - 10, 1, 1],
    );
  });
});
