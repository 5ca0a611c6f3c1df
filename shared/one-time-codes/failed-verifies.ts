import type { Caller } from '#shared/api-keys/caller.ts';
import { logEvent } from '#shared/log.ts';
import { Problem } from '#shared/problems.ts';
import type { KeyLimits } from '#shared/rate-limits/request-limits.ts';
import { isBuyerApp } from '#shared/scopes.ts';

const LIMIT = 'failed-verifies-per-hour';

/** Limits the failed verifies of a key. Wrong codes must not lock out all buyers of the buyer app: above the limit it gets an alarm. */
export const failedVerifies = (limits: Pick<KeyLimits, 'check' | 'consume'>, caller: Caller | undefined) => {
  const isRefused = !isBuyerApp(caller);
  return {
    async check(): Promise<void> {
      if (isRefused) await limits.check(LIMIT);
    },

    /** Counts a failed verify. Returns its problem: `failure`, or `rate_limit_exceeded` above the limit. */
    async counted(failure: Problem): Promise<Problem> {
      try {
        await limits.consume(LIMIT);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        if (isRefused) return error;
        logEvent('failed_verifies_above_limit', { seller_id: caller?.sellerId, key_id: caller?.keyId });
      }
      return failure;
    },
  };
};
