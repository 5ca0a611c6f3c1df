import type { Caller } from '#shared/api-keys/caller.ts';
import { logEvent } from '#shared/log.ts';
import type { Problem } from '#shared/problems.ts';
import { keyLimit } from '#shared/rate-limits/key-limits.ts';
import type { RateLimiter } from '#shared/rate-limits/rate-limiter.ts';
import {
  type CountedRequest,
  consume,
  RateLimitExceeded,
  requireLeft,
} from '#shared/rate-limits/request-limits.ts';
import { isBuyerApp } from '#shared/scopes.ts';

const LIMIT = 'failed-verifies-per-hour';

/** Throws `rate_limit_exceeded` if the failed verifies of the key are used up. Wrong codes must not lock out all buyers of the buyer app. */
export const requireVerifiesLeft = (
  counted: CountedRequest | undefined,
  caller: Caller | undefined,
): void => {
  if (caller !== undefined && !isBuyerApp(caller)) requireLeft(counted, caller, [LIMIT]);
};

/** Counts a failed verify. Returns its problem: `failure`, or `rate_limit_exceeded` above the limit, which for the buyer app is an alarm. */
export const countFailedVerify = async (
  rateLimiter: Pick<RateLimiter, 'increment' | 'decrement'>,
  { caller, failure, nowMs }: { caller: Caller | undefined; failure: Problem; nowMs: number },
): Promise<Problem> => {
  if (caller === undefined) return failure;
  try {
    await consume(rateLimiter, [keyLimit(LIMIT, caller)], nowMs);
  } catch (error) {
    if (!(error instanceof RateLimitExceeded)) throw error;
    if (!isBuyerApp(caller)) return error;
    logEvent('failed_verifies_above_limit', { seller_id: caller.sellerId, key_id: caller.keyId });
  }
  return failure;
};
