import fc from 'fast-check';
import {
  audienceOf,
  type CodeRecord,
  LOCK_SECONDS,
  lockedUntil,
  MAX_CONSECUTIVE_FAILURES,
  recentSends,
  registersBuyers,
  secondsUntilNextSend,
  whyNotTried,
} from '#shared/one-time-codes/rules.ts';

const NOW = 1_800_000_000;
const DAY_SECONDS = 24 * 3600;

/** The limits as the contract words them. */
const LIMITS = [
  { sends: 1, windowSeconds: 60 },
  { sends: 5, windowSeconds: 600 },
  { sends: 10, windowSeconds: DAY_SECONDS },
];

/** Sends whenever the rules allow it, over requests that come this many seconds after one another. */
const sendsAllowed = (gaps: readonly number[]): number[] => {
  let now = NOW;
  const allowed: number[] = [];
  for (const gap of gaps) {
    now += gap;
    allowed.push(...(secondsUntilNextSend(recentSends(allowed, now), now) === 0 ? [now] : []));
  }
  return allowed;
};

const gaps = fc.array(
  fc.oneof(
    fc.nat({ max: 90 }),
    fc.nat({ max: 700 }),
    fc.constantFrom(0, 59, 60, 61, 599, 600),
    fc.nat({ max: 90_000 }),
  ),
  { maxLength: 120 },
);

describe('secondsUntilNextSend', () => {
  it('lets the first send go at once', () => {
    expect(secondsUntilNextSend([], NOW)).toBe(0);
  });

  it.each([
    [0, 60],
    [1, 59],
    [59, 1],
    [60, 0],
    [61, 0],
  ])('is, %i seconds after the only send, %i', (elapsed, wait) => {
    expect(secondsUntilNextSend([NOW - elapsed], NOW)).toBe(wait);
  });

  it.each([
    [240, 360],
    [599, 1],
    [600, 0],
  ])('is, %i seconds after the first of five sends, %i', (elapsed, wait) => {
    const first = NOW - elapsed;
    expect(secondsUntilNextSend([first, first + 60, first + 120, first + 180, first + 180], NOW)).toBe(wait);
  });

  it.each([
    [7200, DAY_SECONDS - 7200],
    [DAY_SECONDS - 1, 1],
    [DAY_SECONDS, 0],
  ])('is, %i seconds after the first of ten sends, %i', (elapsed, wait) => {
    const sends = Array.from({ length: 10 }, (_, index) => NOW - elapsed + index * 700);
    expect(secondsUntilNextSend(sends, NOW)).toBe(wait);
  });

  it('is the longest wait where several limits are reached', () => {
    const sends = [
      ...Array.from({ length: 5 }, (_, index) => NOW - 5000 + index),
      ...[240, 180, 120, 60, 0].map((ago) => NOW - ago),
    ];
    expect(secondsUntilNextSend(sends, NOW)).toBe(DAY_SECONDS - 5000);
  });

  it('holds the cool-down also against a clock that is behind the one that wrote', () => {
    expect(secondsUntilNextSend([NOW + 2], NOW)).toBe(62);
  });

  it('never lets more sends through than any limit has, in any window, however the requests come', () => {
    fc.assert(
      fc.property(gaps, (sequence) => {
        const sends = sendsAllowed(sequence);
        const crowded = LIMITS.filter((limit) =>
          sends.some(
            (end) => sends.filter((at) => at <= end && at > end - limit.windowSeconds).length > limit.sends,
          ),
        );
        expect(crowded).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('names the very second from which on a send goes through, and not one before it', () => {
    fc.assert(
      fc.property(gaps, fc.nat({ max: 1000 }), (sequence, later) => {
        const sends = sendsAllowed(sequence);
        const now = (sends.at(-1) ?? NOW) + later;
        const wait = secondsUntilNextSend(sends, now);
        expect(secondsUntilNextSend(recentSends(sends, now + wait), now + wait)).toBe(0);
        expect(wait === 0 || secondsUntilNextSend(sends, now + wait - 1) === 1).toBe(true);
      }),
    );
  });

  it('refuses no send that every limit has room for', () => {
    fc.assert(
      fc.property(gaps, fc.nat({ max: 1000 }), (sequence, later) => {
        const sends = sendsAllowed(sequence);
        const now = (sends.at(-1) ?? NOW) + later;
        const hasRoom = LIMITS.every(
          (limit) => sends.filter((at) => at > now - limit.windowSeconds).length < limit.sends,
        );
        expect(secondsUntilNextSend(sends, now) === 0).toBe(hasRoom);
      }),
    );
  });
});

describe('recentSends', () => {
  it('forgets a send the second it is a day old', () => {
    expect(recentSends([NOW - DAY_SECONDS, NOW - DAY_SECONDS + 1, NOW], NOW)).toEqual([
      NOW - DAY_SECONDS + 1,
      NOW,
    ]);
  });

  it('forgets nothing that still counts', () => {
    fc.assert(
      fc.property(gaps, fc.nat({ max: 2 * DAY_SECONDS }), (sequence, later) => {
        const sends = sendsAllowed(sequence);
        const now = (sends.at(-1) ?? NOW) + later;
        expect(secondsUntilNextSend(recentSends(sends, now), now)).toBe(secondsUntilNextSend(sends, now));
      }),
    );
  });
});

/** A record with a code of sel_a's, good for 300 seconds from now. */
const record = (
  own: Partial<CodeRecord> = {},
  code: Partial<NonNullable<CodeRecord['code']>> = {},
): CodeRecord => ({
  sends: [NOW],
  failures: 0,
  lastFailureAt: 0,
  code: { mac: 'mac', audience: 'sel_a', expiresAt: NOW + 300, tries: 0, ...code },
  ...own,
});

const REJECTED = { reason: 'rejected' };

describe('lockedUntil', () => {
  it('is 15 minutes after the tenth failure in a row, and nothing before it', () => {
    const failing = (failures: number) => lockedUntil(record({ failures, lastFailureAt: NOW }));
    expect([0, 1, 9].map(failing)).toEqual([0, 0, 0]);
    expect(failing(10)).toBe(NOW + 900);
    expect([MAX_CONSECUTIVE_FAILURES, LOCK_SECONDS]).toEqual([10, 900]);
  });
});

describe('whyNotTried', () => {
  const { code: _code, ...withoutCode } = record();

  it.each([
    ['nothing is stored', undefined, NOW],
    ['no code is out', withoutCode, NOW],
    ['the code is 300 seconds old', record(), NOW + 300],
    ["the code is another seller's", record({}, { audience: 'sel_b' }), NOW],
    ["the code is another seller's and tried out", record({}, { audience: 'sel_b', tries: 5 }), NOW],
    ['the code is expired and tried out', record({}, { tries: 5 }), NOW + 300],
  ])('tells nothing but "rejected" if %s', (_case, stored, now) => {
    expect(whyNotTried(stored, 'sel_a', now)).toEqual(REJECTED);
  });

  it.each([
    ['a fresh code', record(), NOW],
    ['the last second of a code', record(), NOW + 299],
    ['a fifth try', record({}, { tries: 4 }), NOW],
    ['nine failures', record({ failures: 9, lastFailureAt: NOW }), NOW],
    ['a lock that has elapsed', record({ failures: 10, lastFailureAt: NOW - 900 }), NOW],
  ])('has nothing against %s', (_case, stored, now) => {
    expect(whyNotTried(stored, 'sel_a', now)).toBeUndefined();
  });

  it.each([
    ['the cool-down', record({}, { tries: 5 }), NOW, 60],
    ['what is left of the cool-down', record({}, { tries: 5 }), NOW + 45, 15],
    ['one second at least', record({}, { tries: 5 }), NOW + 200, 1],
    [
      'the send limits',
      record({ sends: [-240, -180, -120, -60, 0].map((ago) => NOW + ago) }, { tries: 5 }),
      NOW,
      360,
    ],
  ])('sends the caller of a sixth try off for %s', (_case, stored, now, retryAfterSeconds) => {
    expect(whyNotTried(stored, 'sel_a', now)).toEqual({ reason: 'too_many_attempts', retryAfterSeconds });
  });

  it.each([
    ['at the start', 0, 900],
    ['near the end', 899, 1],
  ])('tells the exact rest of a lock, %s', (_case, elapsed, retryAfterSeconds) => {
    const locked = record({ failures: 10, lastFailureAt: NOW - elapsed });
    expect(whyNotTried(locked, 'sel_a', NOW)).toEqual({ reason: 'too_many_attempts', retryAfterSeconds });
  });

  it('keeps a phone locked whether or not a code is out, and for whomever it is', () => {
    const locked = { failures: 10, lastFailureAt: NOW };
    const refusals = [
      whyNotTried({ ...withoutCode, ...locked }, 'sel_a', NOW),
      whyNotTried(record(locked, { expiresAt: NOW }), 'sel_a', NOW),
      whyNotTried(record(locked), 'sel_b', NOW),
    ];
    expect(refusals).toEqual(Array(3).fill({ reason: 'too_many_attempts', retryAfterSeconds: 900 }));
  });
});

describe('audienceOf', () => {
  it("is the caller's seller, or the public where no key is needed", () => {
    expect(audienceOf({ sellerId: 'sel_a' })).toBe('sel_a');
    expect(audienceOf(undefined)).toBe('public');
  });
});

describe('registersBuyers', () => {
  it("is for the buyer app's own key alone, or for all where no key is needed", () => {
    expect(registersBuyers(undefined)).toBe(true);
    expect(registersBuyers({ scopes: ['buyers:register'] })).toBe(true);
    expect(registersBuyers({ scopes: ['users:read', 'users:write'] })).toBe(false);
    expect(registersBuyers({ scopes: [] })).toBe(false);
  });
});
