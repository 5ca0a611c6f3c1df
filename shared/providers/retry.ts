import { setTimeout as pause } from 'node:timers/promises';
import { ProviderUnavailable } from './unavailable.ts';

/** What a second try can mend. Not a time-out: the caller has waited once, and a provider that hangs would hang again. */
const WORTH_A_RETRY: readonly string[] = ['transport', 'upstream'];

const isWorthARetry = (error: unknown): boolean =>
  error instanceof ProviderUnavailable && WORTH_A_RETRY.includes(error.reason);

/** 100–300 ms: callers that failed together do not come back together. */
const PAUSE_MS = () => 100 + Math.random() * 200;

/** Tries, and tries once more if the first try met a failure that passes by itself. For read-only calls alone. */
export const withOneRetry = async <T>(
  attempt: (number: 1 | 2) => Promise<T>,
  signal: AbortSignal,
  pauseMs: () => number = PAUSE_MS,
): Promise<T> => {
  try {
    return await attempt(1);
  } catch (error) {
    if (!isWorthARetry(error)) throw error;
    await pause(pauseMs(), undefined, { signal }).catch(() => {
      throw error;
    });
    return attempt(2);
  }
};
