import type { Caller } from '#shared/api-keys/caller.ts';
import { logEvent } from '#shared/log.ts';
import { type Problem, problem } from '#shared/problems.ts';
import { keyLimit } from '#shared/rate-limits/key-limits.ts';
import type { RateLimiter } from '#shared/rate-limits/rate-limiter.ts';
import {
  type CountedRequest,
  consume,
  consumeNothing,
  RateLimitExceeded,
  requireLeft,
} from '#shared/rate-limits/request-limits.ts';
import { isBuyerAppOrPublic } from '#shared/scopes.ts';

const LIMIT = 'failed-verifies-per-hour';

/** Throws `rate_limit_exceeded` if the failed verifies of the key are used up. Wrong codes must not lock out all buyers of the buyer app. */
export const requireVerifiesLeft = (
  counted: CountedRequest | undefined,
  caller: Caller | undefined,
): void => {
  if (caller !== undefined && !isBuyerAppOrPublic(caller)) requireLeft(counted, caller, [LIMIT]);
};

interface FailedVerify {
  readonly caller: Caller | undefined;
  /** Whether the code was compared with an outstanding one. Only then it counts: a stranger without a code must not stop a sign-in. */
  readonly isCompared: boolean;
  readonly nowMs: number;
}

/**
 * Counts a failed verify. Returns its problem: `code_rejected`, or `rate_limit_exceeded` if the limit is used up, also for one that does not
 * count, so that neither the response nor its time tells whether a code is outstanding. For the buyer app the limit is an alarm only.
 */
export const countFailedVerify = async (
  rateLimiter: Pick<RateLimiter, 'increment' | 'decrement'>,
  { caller, isCompared, nowMs }: FailedVerify,
): Promise<Problem> => {
  const rejected = problem('code_rejected');
  if (caller === undefined) return rejected;
  const limit = keyLimit(LIMIT, caller);
  try {
    if (isCompared) await consume(rateLimiter, [limit], nowMs);
    else await consumeNothing(rateLimiter, limit, nowMs);
  } catch (error) {
    if (!(error instanceof RateLimitExceeded)) throw error;
    if (!isBuyerAppOrPublic(caller)) return error;
    if (isCompared)
      logEvent('failed_verifies_above_limit', { seller_id: caller.sellerId, key_id: caller.keyId });
  }
  return rejected;
};
