/**
 * The optional daily ceilings of a stage on what costs money: paid checks and SMS, over all keys. The window is one day (UTC).
 * Unlike a key's limits, a ceiling whose count cannot be written refuses: the error is thrown and becomes `service_unavailable`.
 */

import type { Clock } from '#shared/clock.ts';
import { logEvent } from '#shared/log.ts';
import { type ProblemCode, problem } from '#shared/problems.ts';
import { type Consumed, consumed } from './consumed.ts';
import type { Limit } from './limits.ts';
import { DAY_SECONDS } from './plans.ts';
import type { RateLimiter } from './rate-limiter.ts';

/** Calls a day; undefined: no ceiling. */
export interface StageCeilingNumbers {
  readonly paidChecksPerDay?: number | undefined;
  readonly smsPerDay?: number | undefined;
}

/**
 * The ceilings of this stage. An unset ceiling makes no call to the table. Each counted call writes `stage_ceiling_counted`, whose
 * metric raises the alarm before the ceiling is reached. The problems carry the seconds to midnight UTC as Retry-After.
 */
export const stageCeilings = (
  limiter: Pick<RateLimiter, 'increment' | 'decrement'>,
  { paidChecksPerDay, smsPerDay }: StageCeilingNumbers,
  clock: Clock,
) => {
  const consumer =
    (ceiling: string, callsPerDay: number | undefined, code: ProblemCode) => async (): Promise<Consumed> => {
      if (callsPerDay === undefined) return consumed();
      const limit: Limit = {
        subject: `stage:${ceiling}`,
        name: 'count',
        limit: callsPerDay,
        windowSeconds: DAY_SECONDS,
      };
      const nowMs = clock();
      const { allowed, remaining, resetSeconds } = await limiter.increment(limit, nowMs);
      logEvent('stage_ceiling_counted', {
        ceiling,
        used_percent: Math.round(((callsPerDay - remaining) / callsPerDay) * 100),
      });
      if (!allowed) throw problem(code, { retryAfterSeconds: resetSeconds });
      // A refund that cannot be written leaves the count one too high, which spends nothing.
      return consumed(() => limiter.decrement(limit, nowMs).catch(() => {}));
    };
  return {
    /** Counts one identity check and one phone-ownership check. Throws `verification_unavailable` if the ceiling is reached. */
    consumePaidCheck: consumer('paid-checks-per-day', paidChecksPerDay, 'verification_unavailable'),
    /** Counts one SMS. Throws `sms_unavailable` if the ceiling is reached. */
    consumeSms: consumer('sms-per-day', smsPerDay, 'sms_unavailable'),
  };
};

export type StageCeilings = ReturnType<typeof stageCeilings>;
