import { setTimeout as pause } from 'node:timers/promises';
import { serviceUnavailable } from '#shared/problems.ts';

/** For each attempt in turn, the bound of the wait after it, in milliseconds. The last one repeats. */
export type Backoff = readonly number[];

/** Full jitter: a random time between 0 and the bound of an attempt, which counts from 0, in milliseconds. */
export const fullJitterMs = (bounds: Backoff, attempt: number): number =>
  Math.random() * (bounds[attempt] ?? bounds.at(-1) ?? 0);

const BETWEEN_ATTEMPTS: Backoff = [4, 8, 16, 32, 64, 128, 256, 400];

/**
 * Waits a random time after an attempt that met another writer. `conflicts`: the earlier attempts that did. Throws `service_unavailable` if
 * the next attempt would start after `deadlineMs` (monotonic clock).
 */
export const pauseAfterConflict = async (
  conflicts: number,
  deadlineMs: number,
  bounds: Backoff = BETWEEN_ATTEMPTS,
): Promise<void> => {
  const waitMs = fullJitterMs(bounds, conflicts);
  if (performance.now() + waitMs > deadlineMs) {
    const cause = new Error(`${conflicts + 1} attempts met other writers until the deadline`);
    // The log shows only the name of the cause.
    cause.name = 'WriteConflict';
    throw serviceUnavailable(cause);
  }
  await pause(waitMs);
};
