import type { Limit } from '#shared/rate-limits/limit.ts';
import { rateLimiter } from '#shared/rate-limits/rate-limiter.ts';
import type { Table } from '#shared/table/client.ts';

/** On a busy machine many requests at once take long; none of them may fail. */
const TIMEOUT_MS = 20_000;

/** Returns a rate limiter with a timeout that no machine reaches. */
export const limiterOn = (table: Table) => rateLimiter(table, TIMEOUT_MS);

/** A limit of a test, 60 seconds long unless another window is named. */
export const limitOf = (limit: Pick<Limit, 'subject' | 'limit'> & Partial<Limit>): Limit => ({
  name: 'minute',
  windowSeconds: 60,
  keptSeconds: 7200,
  problem: 'rate_limit_exceeded',
  ...limit,
});
