/** What keys used, as `GET /v1/key/usage` returns it. */
import type { Administration } from '#admin/administration.ts';
import { inTurns } from '#admin/stores/batches.ts';
import { useReader } from '#shared/rate-limits/use-history.ts';
import { keysOfAllSellers } from './lookup.ts';

/** Keys that are read at the same time, with two queries each: the SDK opens no more connections. */
const AT_ONCE = 25;

const readEach = ({ table, clock }: Administration, keyIds: readonly string[], days: number) =>
  inTurns(keyIds, AT_ONCE, (keyId) => useReader(table)(keyId, days, clock()));

/** Adds up the counts of rows with the same value of `by`, such as the same hour. Returns them in the order of these values. */
const addedUp = <Row extends Readonly<Record<string, string | number>>>(
  rows: readonly Row[],
  by: keyof Row & string,
): Row[] =>
  [...Map.groupBy(rows, (row) => String(row[by]))]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([value, same]) => ({ ...totalsOf(same), [by]: value }) as Row);

/** The sums of the numbers of rows. */
const totalsOf = (rows: readonly Readonly<Record<string, string | number>>[]) => {
  const totals: Record<string, number> = {};
  for (const row of rows)
    for (const [name, count] of Object.entries(row))
      if (typeof count === 'number') totals[name] = (totals[name] ?? 0) + count;
  return totals;
};

/** Returns what keys used together in the last `days` times 24 hours: the hours and the days with a count only, oldest first. */
export const readUseOf = async (admin: Administration, keyIds: readonly string[], days: number) => {
  const found = await readEach(admin, keyIds, days);
  return {
    data: addedUp(
      found.flatMap(({ data }) => data),
      'hour',
    ),
    paid_checks: addedUp(
      found.flatMap(({ paid_checks }) => paid_checks),
      'day',
    ),
  };
};

/** Returns the keys of all sellers, revoked ones too, with what each used in the last `days` times 24 hours: those with most requests first. */
export const readMostUsed = async (
  admin: Administration,
  { days, count }: { readonly days: number; readonly count: number },
) => {
  const keys = await keysOfAllSellers(admin);
  const found = await readEach(
    admin,
    keys.map(({ key_id }) => key_id),
    days,
  );
  return keys
    .flatMap((key, index) => {
      const { data = [], paid_checks = [] } = found[index] ?? {};
      const { count: paidChecks = 0 } = totalsOf(paid_checks);
      if (data.length + paid_checks.length === 0) return [];
      const none = { requests: 0, refused_links: 0, failed_checks: 0, sms: 0, failed_verifies: 0 };
      return [{ key, use: { ...none, ...totalsOf(data), paid_checks: paidChecks } }];
    })
    .sort((a, b) => b.use.requests - a.use.requests)
    .slice(0, count);
};
