import fc from 'fast-check';
import { secondsToNextWindow, windowOf } from '#shared/rate-limits/rate-limiter.ts';
import { itForAll } from '#test/for-all.ts';

const instant = fc.integer({ min: 0, max: 4_000_000_000_000 });
const windowSeconds = fc.constantFrom(1, 60, 3600);

describe('windowOf', () => {
  it('changes with the clock minute in UTC', () => {
    expect(windowOf(Date.parse('2026-11-21T08:00:59.999Z'), 60)).toBe(
      windowOf(Date.parse('2026-11-21T08:00:00.000Z'), 60),
    );
    expect(windowOf(Date.parse('2026-11-21T08:01:00.000Z'), 60)).toBe(
      windowOf(Date.parse('2026-11-21T08:00:00.000Z'), 60) + 1,
    );
  });
});

describe('secondsToNextWindow', () => {
  itForAll([
    ['08:00:00.000', 60],
    ['08:00:00.001', 60],
    ['08:00:01.000', 59],
    ['08:00:37.500', 23],
    ['08:00:58.999', 2],
    ['08:00:59.000', 1],
    ['08:00:59.999', 1],
  ])('is the whole seconds to the next window, at least 1', (time, seconds) => {
    expect(secondsToNextWindow(Date.parse(`2026-11-21T${time}Z`), 60)).toBe(seconds);
  });

  it('is the least number of whole seconds that leads into the next window', () => {
    fc.assert(
      fc.property(instant, windowSeconds, (nowMs, seconds) => {
        const wait = secondsToNextWindow(nowMs, seconds);
        expect(wait).toBeGreaterThanOrEqual(1);
        expect(windowOf(nowMs + wait * 1000, seconds)).toBe(windowOf(nowMs, seconds) + 1);
        expect(windowOf(nowMs + (wait - 1) * 1000, seconds)).toBe(windowOf(nowMs, seconds));
      }),
    );
  });
});
