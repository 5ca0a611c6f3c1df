import { DAY_SECONDS, HOUR_SECONDS, timeText } from '#shared/clock.ts';
import type { Table } from '#shared/table/client.ts';
import { limitSortKey, limitsPartition } from '#shared/table/keys.ts';
import { queryAll } from '#shared/table/reads.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import type { KeyLimitName } from './key-limits.ts';
import { windowOf } from './limit.ts';

const countIn = (item: StoredItem, name: KeyLimitName): number => Number(item[name] ?? 0);

/** Returns the beginning of the window that an item counts. */
export const startOf = ({ sk }: StoredItem, windowSeconds: number): string =>
  timeText(Number(String(sk).split('#')[1]) * windowSeconds);

const hourOf = (item: StoredItem) => ({
  hour: startOf(item, HOUR_SECONDS),
  requests: Object.entries(item)
    .filter(([name]) => name.startsWith('minute_'))
    .reduce((sum, [, count]) => sum + Number(count), 0),
  refused_links: countIn(item, 'refused-links-per-hour'),
  failed_checks: countIn(item, 'failed-checks-per-hour'),
  sms: countIn(item, 'sms-per-hour'),
  failed_verifies: countIn(item, 'failed-verifies-per-hour'),
});

const dayOf = (item: StoredItem) => ({
  day: startOf(item, DAY_SECONDS).slice(0, 'YYYY-MM-DD'.length),
  count: countIn(item, 'paid-checks-per-day'),
});

/** Reads what a key used in the last `days` times 24 hours, and the days that they lie in: those with a count only, oldest first. */
export const useReader = (table: Table) => async (keyId: string, days: number, nowMs: number) => {
  const windows = (unit: 'HOUR' | 'DAY', first: number, last: number) =>
    queryAll(table, {
      pk: limitsPartition(keyId),
      between: [limitSortKey(unit, first), limitSortKey(unit, last)],
      isEventuallyConsistent: true,
    });
  const lastHour = windowOf(nowMs, HOUR_SECONDS);
  const firstHour = lastHour - days * 24 + 1;
  const firstDay = windowOf(firstHour * HOUR_SECONDS * 1000, DAY_SECONDS);
  const [hours, dayItems] = await Promise.all([
    windows('HOUR', firstHour, lastHour),
    windows('DAY', firstDay, windowOf(nowMs, DAY_SECONDS)),
  ]);
  return {
    data: hours.map(hourOf).filter(({ hour, ...counts }) => Object.values(counts).some((count) => count > 0)),
    paid_checks: dayItems.map(dayOf).filter(({ count }) => count > 0),
  };
};
