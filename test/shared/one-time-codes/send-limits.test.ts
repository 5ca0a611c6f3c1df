import fc from 'fast-check';
import { CODE_LIMITS, recentSends, secondsUntilNextSend } from '#shared/one-time-codes/rules.ts';

const NOW = 1_800_000_000;
const DAY_SECONDS = 24 * 3600;

/** The limits as the contract words them. */
const LIMITS = [
  { maximum: 1, windowSeconds: 60 },
  { maximum: 5, windowSeconds: 600 },
  { maximum: 10, windowSeconds: DAY_SECONDS },
];

/** The seconds until the limits of a phone and seller allow another send. */
const waitAfter = (sends: readonly number[], now: number): number =>
  secondsUntilNextSend(CODE_LIMITS.sendLimits, sends, now);

/** Sends whenever the rules allow it, over requests that come this many seconds after one another. */
const sendsAllowed = (gaps: readonly number[]): number[] => {
  let now = NOW;
  const allowed: number[] = [];
  for (const gap of gaps) {
    now += gap;
    allowed.push(...(waitAfter(recentSends(allowed, now), now) === 0 ? [now] : []));
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
  // Without this size nearly all sequences have at most ten gaps, which use up no limit.
  { maxLength: 120, size: 'max' },
);

describe('secondsUntilNextSend', () => {
  it.each([2, 3600])('returns at most the cool-down when the clock is %i seconds behind', (secondsBehind) => {
    expect(waitAfter([NOW + secondsBehind], NOW)).toBe(60);
  });

  it('returns at most the window of each limit when the clock is an hour behind', () => {
    const inAnHour = (count: number) => Array.from({ length: count }, () => NOW + 3600);
    expect([5, 10].map((count) => waitAfter(inAnHour(count), NOW))).toEqual([600, DAY_SECONDS]);
  });

  it('returns the exact second from which a send is allowed', () => {
    fc.assert(
      fc.property(gaps, fc.nat({ max: 1000 }), (sequence, later) => {
        const sends = sendsAllowed(sequence);
        const now = (sends.at(-1) ?? NOW) + later;
        const wait = waitAfter(sends, now);
        expect(waitAfter(recentSends(sends, now + wait), now + wait)).toBe(0);
        expect(wait === 0 || waitAfter(sends, now + wait - 1) === 1).toBe(true);
      }),
    );
  });

  it('allows a send if and only if every limit allows it, at each request of any sequence', () => {
    fc.assert(
      fc.property(gaps, (sequence) => {
        const sends: number[] = [];
        const wronglyDecided: number[] = [];
        let now = NOW;
        for (const gap of sequence) {
          now += gap;
          const hasRoom = LIMITS.every(
            (limit) => sends.filter((at) => at > now - limit.windowSeconds).length < limit.maximum,
          );
          if ((waitAfter(recentSends(sends, now), now) === 0) !== hasRoom) wronglyDecided.push(now);
          if (hasRoom) sends.push(now);
        }
        expect(wronglyDecided).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });
});

describe('recentSends', () => {
  it('drops a send that is a day old', () => {
    expect(recentSends([NOW - DAY_SECONDS, NOW - DAY_SECONDS + 1, NOW], NOW)).toEqual([
      NOW - DAY_SECONDS + 1,
      NOW,
    ]);
  });

  it('keeps every send that still counts', () => {
    fc.assert(
      fc.property(gaps, fc.nat({ max: 2 * DAY_SECONDS }), (sequence, later) => {
        const sends = sendsAllowed(sequence);
        const now = (sends.at(-1) ?? NOW) + later;
        expect(waitAfter(recentSends(sends, now), now)).toBe(waitAfter(sends, now));
      }),
    );
  });
});

/** The seconds until the limits of a phone and the buyer app allow another send. */
const waitOfApp = (sends: readonly number[], now: number): number =>
  secondsUntilNextSend(CODE_LIMITS.sendLimitsOfBuyerApp, recentSends(sends, now), now);

/** The sends of whoever asks for a code every 20 seconds through the buyer app, for this many seconds. */
const sendsOfApp = (forSeconds: number): number[] => {
  const sends: number[] = [];
  for (let now = NOW; now < NOW + forSeconds; now += 20) if (waitOfApp(sends, now) === 0) sends.push(now);
  return sends;
};

describe('secondsUntilNextSend of the buyer app', () => {
  it('allows ten sends as for a seller, then one an hour after the last one, up to 24 in 24 hours', () => {
    const sends = sendsOfApp(DAY_SECONDS);
    const ofSeller = sends.slice(0, 10);
    expect(ofSeller).toEqual(sendsAllowed([0, ...Array<number>(180).fill(20)]));
    const gaps = sends.slice(10).map((at, index) => at - Number(sends[index + 9]));
    expect(gaps).toEqual(Array(14).fill(3600));
  });

  it.each([
    [0, 3600],
    [60, 3540],
    [3599, 1],
    [3600, 0],
  ])('returns, %i seconds after the last of ten sends, %i', (elapsed, wait) => {
    const sends = Array.from({ length: 10 }, (_, index) => NOW - elapsed - (9 - index) * 700);
    expect(waitOfApp(sends, NOW)).toBe(wait);
  });

  it('returns the time until the first of ten sends is a day old, where that is less than an hour', () => {
    const sends = [
      NOW - DAY_SECONDS + 100,
      ...Array.from({ length: 9 }, (_, index) => NOW - 1200 + index * 100),
    ];
    expect(waitOfApp(sends, NOW)).toBe(100);
  });

  it('returns the time until the first of 24 sends is a day old', () => {
    const sends = sendsOfApp(DAY_SECONDS);
    const last = Number(sends.at(-1));
    expect(sends).toHaveLength(24);
    expect(waitOfApp(sends, last + 3600)).toBe(NOW + DAY_SECONDS - last - 3600);
  });
});
