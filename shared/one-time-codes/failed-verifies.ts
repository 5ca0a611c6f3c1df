import type { Caller } from '#shared/http/caller.ts';
import { logEvent } from '#shared/log.ts';
import { Problem } from '#shared/problems.ts';
import { type CountedRequest, keyLimits, NOT_LIMITED } from '#shared/rate-limits/key-limits.ts';
import type { RateLimiter } from '#shared/rate-limits/rate-limiter.ts';
import { isBuyerApp } from './rules.ts';

const LIMIT = 'failed-verifies-per-hour';

/** The limit of a key on failed verifies. */
export interface FailedVerifies {
  /** Throws `rate_limit_exceeded` if the limit is used up; counts nothing. */
  check(): Promise<void>;
  /** Counts a failed verify and returns the problem to return: the one given, or `rate_limit_exceeded` above the limit. */
  counted(failure: Problem): Promise<Problem>;
}

/**
 * Limits the failed verifies of a key. The buyer app is never refused: otherwise wrong codes typed into it would lock out all its buyers.
 * Above the limit each failure raises an alarm instead. Without a key there is no limit; the firewall limits addresses.
 */
export const failedVerifies = (
  rateLimiter: RateLimiter | undefined,
  request: Omit<CountedRequest, 'caller'> & { readonly caller: Caller | undefined },
): FailedVerifies => {
  const { caller } = request;
  const limits = rateLimiter && caller ? keyLimits(rateLimiter, { ...request, caller }) : NOT_LIMITED;
  const isRefused = !isBuyerApp(caller);
  return {
    async check() {
      if (isRefused) await limits.check(LIMIT);
    },
    async counted(failure) {
      try {
        await limits.consume(LIMIT);
        return failure;
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        if (isRefused) return error;
        logEvent('failed_verifies_above_limit', { seller_id: caller?.sellerId, key_id: caller?.keyId });
        return failure;
      }
    },
  };
};
