/** The optional daily ceilings (UTC) of a stage on paid checks and SMS, over all keys. If one cannot be counted, it refuses. */

import type { Clock } from '#shared/clock.ts';
import { logEvent } from '#shared/log.ts';
import { problem } from '#shared/problems.ts';
import { isBuyerApp, type Scope } from '#shared/scopes.ts';
import { DAY_SECONDS, keyLimit, type Limit, type LimitedKey, type LimitState } from './plans.ts';
import type { RateLimiter } from './rate-limiter.ts';
import { consumeAll, KeyLimitExceeded, type KeyLimits, type Refund } from './request-limits.ts';

export interface StageCeilingNumbers {
  readonly paidChecksPerDay?: number | undefined;
  readonly smsPerDay?: number | undefined;
}

/** Undefined where no key is required. */
type CountedKey =
  | { readonly keyId: string; readonly sellerId: string; readonly scopes: readonly Scope[] }
  | undefined;

const CODES = {
  'paid-checks-per-day': 'verification_unavailable',
  'sms-per-day': 'sms_unavailable',
} as const;

type CeilingName = keyof typeof CODES;

/** What all keys without buyers:register can use of a ceiling. The last fifth of the SMS is for the buyer app alone. */
const OF_ALL_SELLERS = { 'paid-checks-per-day': 1, 'sms-per-day': 0.8 } as const;

/** The limits that a ceiling sets a key: its seller's share, which is a quarter over all its keys (at least 1), and the ceiling. */
const limitsOf = (ceiling: CeilingName, callsPerDay: number, key: CountedKey): Limit[] => {
  const windowSeconds = DAY_SECONDS;
  const daily = (subject: string, name: string, limit: number) => ({ subject, name, limit, windowSeconds });
  const ofStage = (limit: number) => daily(`stage:${ceiling}`, 'count', limit);
  if (key === undefined || isBuyerApp(key)) return [ofStage(callsPerDay)];
  return [
    daily(key.sellerId, ceiling, Math.max(1, Math.floor(callsPerDay / 4))),
    ofStage(Math.floor(callsPerDay * OF_ALL_SELLERS[ceiling])),
  ];
};

const throwIfUsedUp = (ceiling: CeilingName, { allowed, resetSeconds }: LimitState): void => {
  if (!allowed) throw problem(CODES[ceiling], { retryAfterSeconds: resetSeconds });
};

/** An unset ceiling makes no call to the table. The problems carry the seconds to midnight UTC as Retry-After. */
export const stageCeilings = (
  limiter: Pick<RateLimiter, 'increment' | 'decrement'>,
  { paidChecksPerDay, smsPerDay }: StageCeilingNumbers,
  clock: Clock,
) => {
  /** Counts the key's own limit, then its seller's share, then the stage. Refunds the counts before one that is refused. */
  const consume = (
    ceiling: CeilingName,
    callsPerDay: number | undefined,
    key: CountedKey,
    own: () => Promise<Refund>,
  ) => {
    if (callsPerDay === undefined) return own();
    const counts = limitsOf(ceiling, callsPerDay, key).map((limit) => async () => {
      const nowMs = clock();
      const state = await limiter.increment(limit, nowMs);
      if (limit.subject === `stage:${ceiling}`) {
        const used_percent = Math.round(((limit.limit - state.remaining) / callsPerDay) * 100);
        logEvent('stage_ceiling_counted', { ceiling, used_percent });
      } else if (state.allowed && state.remaining === 0) {
        logEvent('key_limit_used_up', { limit: ceiling, key_id: key?.keyId });
      }
      throwIfUsedUp(ceiling, state);
      // A refund that cannot be written leaves the count one too high, which spends nothing.
      return () => limiter.decrement(limit, nowMs).catch(() => {});
    });
    return consumeAll(own, ...counts);
  };

  return {
    /** The states are in the order of the limits. */
    paidChecks(key: LimitedKey & NonNullable<CountedKey>) {
      const own = keyLimit('paid-checks-per-day', key);
      const ofStage =
        paidChecksPerDay === undefined ? [] : limitsOf('paid-checks-per-day', paidChecksPerDay, key);
      return {
        limits: [own, ...ofStage],
        throwIfUsedUp([ownState, ...states]: readonly LimitState[]): void {
          if (ownState?.allowed === false) throw new KeyLimitExceeded({ ...own, ...ownState });
          for (const state of states) throwIfUsedUp('paid-checks-per-day', state);
        },
      };
    },

    /** Throws `rate_limit_exceeded` for the key's limit, `verification_unavailable` for its seller's share or the ceiling. */
    consumePaidCheck: (key: CountedKey, limits: Pick<KeyLimits, 'consume'>): Promise<Refund> =>
      consume('paid-checks-per-day', paidChecksPerDay, key, () => limits.consume('paid-checks-per-day')),

    /** Throws `rate_limit_exceeded` for the key's limit, `sms_unavailable` for a share or the ceiling. */
    consumeSms: (key: CountedKey, limits: Pick<KeyLimits, 'consume'>): Promise<Refund> =>
      consume('sms-per-day', smsPerDay, key, () => limits.consume('sms-per-hour')),
  };
};
