/**
 * The optional daily ceilings of a stage on what costs money: paid checks and SMS, over all keys. The window is one day (UTC).
 * Unlike a key's limits, a ceiling whose count cannot be written refuses: the error is thrown and becomes `service_unavailable`.
 */

import type { Clock } from '#shared/clock.ts';
import { logEvent } from '#shared/log.ts';
import { type ProblemCode, problem } from '#shared/problems.ts';
import { isBuyerApp, type Scope } from '#shared/scopes.ts';
import { type Consumed, consumeAll, consumed } from './consumed.ts';
import type { Limit, LimitState } from './limits.ts';
import { DAY_SECONDS } from './plans.ts';
import type { RateLimiter } from './rate-limiter.ts';
import type { KeyLimits } from './request-limits.ts';

/** Calls a day; undefined: no ceiling. */
export interface StageCeilingNumbers {
  readonly paidChecksPerDay?: number | undefined;
  readonly smsPerDay?: number | undefined;
}

/** The key of a request; undefined where no key is required. */
type CountedKey = { readonly keyId: string; readonly scopes: readonly Scope[] } | undefined;

/** What one key without buyers:register can use of a ceiling: a quarter, at least 1. */
const keyShare = (callsPerDay: number): number => Math.max(1, Math.floor(callsPerDay / 4));

/** What all keys without buyers:register can use of the ceiling of SMS. The last fifth is for the buyer app alone. */
const sellersShare = (smsPerDay: number): number => Math.floor((smsPerDay * 4) / 5);

/**
 * The ceilings of this stage. An unset ceiling makes no call to the table. Each counted call writes `stage_ceiling_counted`, whose
 * metric raises the alarm before the ceiling is reached. The problems carry the seconds to midnight UTC as Retry-After.
 */
export const stageCeilings = (
  limiter: Pick<RateLimiter, 'increment' | 'decrement'>,
  { paidChecksPerDay, smsPerDay }: StageCeilingNumbers,
  clock: Clock,
) => {
  /** Counts one against a limit of a day. Throws `code` with Retry-After if it is used up. */
  const consume = async (
    daily: Omit<Limit, 'windowSeconds'>,
    code: ProblemCode,
    logCount: (state: LimitState) => void,
  ): Promise<Consumed> => {
    const limit = { ...daily, windowSeconds: DAY_SECONDS };
    const nowMs = clock();
    const state = await limiter.increment(limit, nowMs);
    logCount(state);
    if (!state.allowed) throw problem(code, { retryAfterSeconds: state.resetSeconds });
    // A refund that cannot be written leaves the count one too high, which spends nothing.
    return consumed(() => limiter.decrement(limit, nowMs).catch(() => {}));
  };

  /** Counts one of the stage, up to `limit` of the ceiling. */
  const consumeOfStage = (
    ceiling: string,
    { callsPerDay, limit }: { readonly callsPerDay: number; readonly limit: number },
    code: ProblemCode,
  ): Promise<Consumed> =>
    consume({ subject: `stage:${ceiling}`, name: 'count', limit }, code, ({ remaining }) =>
      logEvent('stage_ceiling_counted', {
        ceiling,
        used_percent: Math.round(((limit - remaining) / callsPerDay) * 100),
      }),
    );

  return {
    /**
     * Counts one identity check and one phone-ownership check of a key and of the stage. The count of the key's own limit is also that
     * of its share of the ceiling. Throws `rate_limit_exceeded` if the key's limit is used up, `verification_unavailable` if its share
     * or the ceiling is.
     */
    async consumePaidCheck(key: CountedKey, limits: Pick<KeyLimits, 'consume'>): Promise<Consumed> {
      if (paidChecksPerDay === undefined) return limits.consume('paid-checks-per-day');
      const [name, code] = ['paid-checks-per-day', 'verification_unavailable'] as const;
      const share = isBuyerApp(key) ? undefined : { limit: keyShare(paidChecksPerDay), code };
      const whole = { callsPerDay: paidChecksPerDay, limit: paidChecksPerDay };
      return consumeAll(
        () => limits.consume(name, share),
        () => consumeOfStage(name, whole, code),
      );
    },

    /**
     * Counts one SMS of a key and of the stage. Throws `rate_limit_exceeded` if the key's limit is used up, `sms_unavailable` if its
     * share of the ceiling, the share of all sellers or the ceiling is.
     */
    async consumeSms(key: CountedKey, limits: Pick<KeyLimits, 'consume'>): Promise<Consumed> {
      const ofKey = () => limits.consume('sms-per-hour');
      if (smsPerDay === undefined) return ofKey();
      const [name, code] = ['sms-per-day', 'sms_unavailable'] as const;
      const ofStage = (limit: number) => () => consumeOfStage(name, { callsPerDay: smsPerDay, limit }, code);
      if (key === undefined || isBuyerApp(key)) return consumeAll(ofKey, ofStage(smsPerDay));
      const share = { subject: key.keyId, name, limit: keyShare(smsPerDay) };
      const ofShare = () =>
        consume(share, code, ({ allowed, remaining }) => {
          if (allowed && remaining === 0) logEvent('key_limit_used_up', { limit: name, key_id: key.keyId });
        });
      return consumeAll(ofKey, ofShare, ofStage(sellersShare(smsPerDay)));
    },
  };
};

export type StageCeilings = ReturnType<typeof stageCeilings>;
