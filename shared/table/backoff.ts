import { setTimeout as pause } from 'node:timers/promises';
import { serviceUnavailable } from '#shared/problems.ts';

export interface Backoff {
  readonly baseMs: number;
  readonly capMs: number;
}

/** Full jitter: a random time between 0 and a bound that doubles with each attempt, in milliseconds. */
export const fullJitterMs = ({ baseMs, capMs }: Backoff, attempt: number): number =>
  Math.random() * Math.min(capMs, baseMs * 2 ** attempt);

const BETWEEN_ATTEMPTS: Backoff = { baseMs: 4, capMs: 400 };

/**
 * Runs `attempt` until it gives a result. Undefined means that another writer was first: it runs again after a random wait. Throws
 * `service_unavailable` if the next attempt would start after `deadlineMs` (monotonic clock).
 */
export const retryUntil = async <T>(
  deadlineMs: number,
  attempt: (attemptsBefore: number) => Promise<T | undefined>,
  betweenAttempts: Backoff = BETWEEN_ATTEMPTS,
): Promise<T> => {
  for (let attempts = 0; ; attempts += 1) {
    const result = await attempt(attempts);
    if (result !== undefined) return result;
    const waitMs = fullJitterMs(betweenAttempts, attempts);
    if (performance.now() + waitMs > deadlineMs) {
      const cause = new Error(`${attempts + 1} attempts met other writers until the deadline`);
      // The log shows only the name of the cause.
      cause.name = 'WriteConflict';
      throw serviceUnavailable(cause);
    }
    await pause(waitMs);
  }
};
