import type { Table } from '#shared/table/client.ts';
import { limitSortKey, limitsPartition } from '#shared/table/keys.ts';
import { queryAll } from '#shared/table/reads.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { DAY_SECONDS, HOUR_SECONDS, type HourlyLimitName, type KeyLimitName } from './plans.ts';
import { windowOf } from './rate-limiter.ts';

export interface HourOfUse {
  /** Epoch seconds of its beginning. */
  readonly startsAt: number;
  readonly requests: number;
  readonly counts: Readonly<Record<Exclude<HourlyLimitName, 'rotations-per-hour'>, number>>;
}

/** `startsAt`: epoch seconds of a day (UTC). */
export interface DayOfUse {
  readonly startsAt: number;
  readonly paidChecks: number;
}

const countIn = (item: StoredItem, name: KeyLimitName): number => Number(item[name] ?? 0);

const startOf = ({ sk }: StoredItem, windowSeconds: number): number =>
  Number(String(sk).split('#')[1]) * windowSeconds;

const hourOf = (item: StoredItem): HourOfUse => ({
  startsAt: startOf(item, HOUR_SECONDS),
  requests: Object.entries(item)
    .filter(([name]) => name.startsWith('minute_'))
    .reduce((sum, [, count]) => sum + Number(count), 0),
  counts: {
    'sms-per-hour': countIn(item, 'sms-per-hour'),
    'failed-checks-per-hour': countIn(item, 'failed-checks-per-hour'),
    'refused-links-per-hour': countIn(item, 'refused-links-per-hour'),
    'failed-verifies-per-hour': countIn(item, 'failed-verifies-per-hour'),
  },
});

export const useHistory = (table: Table) => {
  const windows = (keyId: string, unit: 'HOUR' | 'DAY', [first, last]: readonly [number, number]) =>
    queryAll(table, {
      pk: limitsPartition(keyId),
      between: [limitSortKey(unit, first), limitSortKey(unit, last)],
      isEventuallyConsistent: true,
    });

  return {
    /** The last `days` times 24 hours and the days that they lie in, those with a count only, oldest first. */
    async read(
      keyId: string,
      days: number,
      nowMs: number,
    ): Promise<{ hours: HourOfUse[]; days: DayOfUse[] }> {
      const lastHour = windowOf(nowMs, HOUR_SECONDS);
      const firstHour = lastHour - days * 24 + 1;
      const firstDay = windowOf(firstHour * HOUR_SECONDS * 1000, DAY_SECONDS);
      const [hourItems, dayItems] = await Promise.all([
        windows(keyId, 'HOUR', [firstHour, lastHour]),
        windows(keyId, 'DAY', [firstDay, windowOf(nowMs, DAY_SECONDS)]),
      ]);
      return {
        hours: hourItems
          .map(hourOf)
          .filter(({ requests, counts }) => requests > 0 || Object.values(counts).some((count) => count > 0)),
        days: dayItems
          .map((item) => ({
            startsAt: startOf(item, DAY_SECONDS),
            paidChecks: countIn(item, 'paid-checks-per-day'),
          }))
          .filter(({ paidChecks }) => paidChecks > 0),
      };
    },
  };
};

export type UseHistory = ReturnType<typeof useHistory>;
