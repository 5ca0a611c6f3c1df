import fc from 'fast-check';
import { axisEnd, BOTTOM, chartOf, DAYS, RIGHT } from '#reference/pages/browser/chart.ts';
import type { UsageHour } from '#reference/pages/browser/key-texts.ts';

const HOUR_MS = 3_600_000;
const NOW = Date.parse('2026-11-21T10:30:00Z');

const usageHour = (hour: string, counts: Partial<UsageHour> = {}): UsageHour => ({
  hour,
  requests: 1,
  refused_links: 0,
  failed_checks: 0,
  sms: 0,
  failed_verifies: 0,
  ...counts,
});

describe('the bars', () => {
  it('stand at their hours from the first to the last of seven days, and hours without a count have none', () => {
    const { bars } = chartOf(
      [
        usageHour('2026-11-14T11:00:00Z'),
        usageHour('2026-11-14T13:00:00Z'),
        usageHour('2026-11-21T10:00:00Z'),
      ],
      NOW,
    );
    expect(bars.map(({ x, width }) => x / width)).toEqual([0, 2, DAYS * 24 - 1]);
    expect((bars[2]?.x ?? 0) + (bars[2]?.width ?? 0)).toBe(RIGHT);
  });

  it('leave out an hour that is over when the response of a new hour came after its count', () => {
    const { bars } = chartOf([usageHour('2026-11-14T11:00:00Z'), usageHour('2026-11-21T11:00:00Z')], NOW);
    expect(bars.map(({ x, width }) => x + width)).toEqual([RIGHT]);
  });

  it('have the refused requests above the others, both to the scale of the axis', () => {
    const { bars, countLabels } = chartOf(
      [
        usageHour('2026-11-21T10:00:00Z', {
          requests: 60,
          refused_links: 8,
          failed_checks: 4,
          failed_verifies: 3,
        }),
      ],
      NOW,
    );
    const [top, half, zero] = countLabels;
    expect(countLabels.map(({ count }) => count)).toEqual([60, 30, 0]);
    const perRequest = (BOTTOM - (top?.y ?? 0)) / 60;
    expect(bars[0]?.otherHeight).toBeCloseTo(45 * perRequest);
    expect(bars[0]?.refusedHeight).toBeCloseTo(15 * perRequest);
    expect([half?.y, zero?.y]).toEqual([BOTTOM - 30 * perRequest, BOTTOM]);
  });

  it('show a refused request that was counted in the hour after its request', () => {
    const [bar] = chartOf([usageHour('2026-11-21T10:00:00Z', { requests: 0, failed_checks: 1 })], NOW).bars;
    expect(bar?.otherHeight).toBe(0);
    expect(bar?.refusedHeight).toBeGreaterThan(0);
  });

  it('stay visible beside a much higher one, and are not drawn for zero requests', () => {
    const { bars } = chartOf(
      [
        usageHour('2026-11-21T08:00:00Z', { requests: 60_000 }),
        usageHour('2026-11-21T09:00:00Z', { requests: 1 }),
        usageHour('2026-11-21T10:00:00Z', { requests: 0, sms: 3 }),
      ],
      NOW,
    );
    expect(bars.map(({ otherHeight }) => otherHeight >= 2)).toEqual([true, true, false]);
    expect(bars[2]?.otherHeight).toBe(0);
  });

  it('lie within the chart for any counts at any time', () => {
    const count = fc.nat(100_000);
    const counts = fc.record({
      requests: count,
      refused_links: count,
      failed_checks: count,
      sms: count,
      failed_verifies: count,
    });
    const hours = fc.uniqueArray(fc.tuple(fc.nat(DAYS * 24 - 1), counts), {
      selector: ([ago]) => ago,
      minLength: 1,
    });
    fc.assert(
      fc.property(fc.nat(HOUR_MS * 10_000), hours, (later, used) => {
        const nowMs = NOW + later;
        const lastMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS;
        const { bars } = chartOf(
          used.map(([ago, values]) => usageHour(new Date(lastMs - ago * HOUR_MS).toISOString(), values)),
          nowMs,
        );
        expect(bars).toHaveLength(used.length);
        for (const { x, width, otherHeight, refusedHeight } of bars) {
          expect(x).toBeGreaterThanOrEqual(0);
          expect(x + width).toBeLessThanOrEqual(RIGHT);
          expect(otherHeight + refusedHeight).toBeLessThanOrEqual(BOTTOM);
        }
      }),
    );
  });
});

describe('the labels of the hours', () => {
  it('are every six hours in UTC, with each day at its midnight', () => {
    const { hourLabels } = chartOf([usageHour('2026-11-21T10:00:00Z')], NOW);
    expect(hourLabels).toHaveLength(DAYS * 4);
    expect(hourLabels.slice(0, 4).map(({ hour, day }) => [hour, day])).toEqual([
      ['12', 'Sat 14'],
      ['18', undefined],
      ['00', 'Sun 15'],
      ['06', undefined],
    ]);
    expect(hourLabels.at(-2)).toMatchObject({ hour: '00', day: 'Sat 21', x: RIGHT - 11 * 4 });
  });

  it('leave out the name of a first day that has less than half of its hours', () => {
    const now = Date.parse('2026-11-21T13:00:00Z');
    const [first, second] = chartOf([usageHour('2026-11-21T13:00:00Z')], now).hourLabels;
    expect([first?.hour, first?.day, second?.day]).toEqual(['18', undefined, 'Sun 15']);
  });
});

describe('the end of the axis', () => {
  it.each([
    [0, 2],
    [1, 2],
    [2, 2],
    [3, 4],
    [9, 10],
    [10, 10],
    [11, 12],
    [31, 40],
    [100, 100],
    [1057, 1200],
    [60_001, 80_000],
  ])('for %i requests is %i', (count, end) => {
    expect(axisEnd(count)).toBe(end);
  });

  it('is not below the count, less than twice as high, and even', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 1e9 }), (count) => {
        const end = axisEnd(count);
        expect(end).toBeGreaterThanOrEqual(count);
        expect(end).toBeLessThan(count * 2);
        expect(end % 2).toBe(0);
      }),
    );
  });
});
