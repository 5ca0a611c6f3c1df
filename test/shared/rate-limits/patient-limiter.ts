import { rateLimiter } from '#shared/rate-limits/rate-limiter.ts';
import type { Table } from '#shared/table/client.ts';

/** On a busy machine many requests at once take long; none of them may pass uncounted. */
const TIMEOUT_MS = 20_000;

/** Returns a rate limiter that waits longer than any machine is slow. */
export const patientLimiter = (table: Table) => rateLimiter(table, TIMEOUT_MS);
