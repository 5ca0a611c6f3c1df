import { HOUR_SECONDS } from '#shared/clock.ts';
import { windowOf } from '#shared/rate-limits/limit.ts';
import type { Table } from '#shared/table/client.ts';
import { limitSortKey, limitsPartition } from '#shared/table/keys.ts';
import { batchGet } from '#shared/table/reads.ts';
import type { Reply } from './harness.ts';

/** What was counted of a key in the hour and the day of a time: the names of its limits and `minute_<n>`, with their counts. */
const countsOf = async (table: Table, keyId: string, nowMs: number): Promise<Record<string, number>> => {
  const pk = limitsPartition(keyId);
  const items = await batchGet(table, [
    { pk, sk: limitSortKey('HOUR', windowOf(nowMs, HOUR_SECONDS)) },
    { pk, sk: limitSortKey('DAY', windowOf(nowMs, 24 * HOUR_SECONDS)) },
  ]);
  const counts = items.flatMap(({ pk: _pk, sk: _sk, ttl: _ttl, ...rest }) => Object.entries(rest));
  return Object.fromEntries(counts.map(([name, count]) => [name, Number(count)]));
};

/**
 * Everything that a refusal tells and leaves: status, code, the headers of limits, and what was counted of the key. Compared at once, so
 * that a refusal is not tested by its code alone.
 */
export const outcomeOf = async (
  table: Table,
  { keyId, nowMs }: { readonly keyId: string; readonly nowMs: number },
  { status, headers, json }: Reply,
) => ({
  status,
  code: json?.code,
  rateLimit: headers.RateLimit,
  retryAfter: headers['Retry-After'],
  counts: await countsOf(table, keyId, nowMs),
});
