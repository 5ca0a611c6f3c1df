import { setTimeout as pause } from 'node:timers/promises';
import { ProviderUnavailable } from './unavailable.ts';

/** Failures that a second attempt can avoid. A timeout is not one: the caller has waited once, and the second call would hang too. */
const RETRIED: readonly string[] = ['transport', 'upstream'];

/** 100 to 300 ms, random, so that callers that failed together do not retry together. */
const PAUSE_MS = () => 100 + Math.random() * 200;

/** Attempts a call, and once more after a transient failure. Only for calls that may be repeated. */
export const withOneRetry = async <T>(
  attempt: (number: 1 | 2) => Promise<T>,
  signal: AbortSignal,
  pauseMs: () => number = PAUSE_MS,
): Promise<T> => {
  try {
    return await attempt(1);
  } catch (error) {
    if (!(error instanceof ProviderUnavailable && RETRIED.includes(error.reason))) throw error;
    await pause(pauseMs(), undefined, { signal }).catch(() => {
      throw error;
    });
    return attempt(2);
  }
};

/**
 * Calls the providers in order until one returns a result. A call that must not be repeated goes to the next provider only if it was
 * not sent, so that a phone never receives two codes. If all fail, throws the last failure of a provider that was called, or the last
 * failure if none was called, with the shortest `retryAfterSeconds` of all.
 */
export const firstAvailable = async <T>(
  calls: readonly (() => Promise<T>)[],
  mayRepeat: boolean,
): Promise<T> => {
  const failures: ProviderUnavailable[] = [];
  for (const call of calls) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof ProviderUnavailable)) throw error;
      failures.push(error);
      const mayFailOver = mayRepeat || error.delivery === 'not_sent';
      if (error.reason === 'aborted' || !mayFailOver) break;
    }
  }
  throw combined(failures);
};

const combined = (failures: readonly ProviderUnavailable[]): Error => {
  const failure = failures.findLast(({ wasCalled }) => wasCalled) ?? failures.at(-1);
  if (failure === undefined) return new Error('no provider is configured');
  const waits = failures.flatMap(({ retryAfterSeconds }) => retryAfterSeconds ?? []);
  if (waits.length === 0) return failure;
  const { reason, delivery, cause } = failure;
  const retryAfterSeconds = Math.min(...waits);
  return new ProviderUnavailable(failure, reason, { delivery, cause, retryAfterSeconds });
};
