import fc from 'fast-check';
import { secondsToNextWindow, windowOf } from '#shared/rate-limits/limit.ts';

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
