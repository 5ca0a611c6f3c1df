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

/** The headers of a professional key's first request that no limit refused, at the full minute. */
export const COUNTED = { rateLimit: '"professional";r=999;t=60', retryAfter: undefined } as const;

/** The headers of a refusal by an hourly limit at the full hour. */
export const usedUp = (name: string) => ({
  status: 429,
  code: 'rate_limit_exceeded',
  rateLimit: `"professional";r=999;t=60, "${name}";r=0;t=3600`,
  retryAfter: '3600',
});

/** The override of a key that has one of a limit. */
export const limitOfOne = (name: string) => ({ limits: JSON.stringify({ [name]: 1 }) });
