/**
 * What a key may cost within one clock hour (UTC): failed identity checks, and SMS. Both stand in the request rateLimiter's store. If that
 * cannot be reached the request passes, as with the plan's limit, and a metric says so.
 *
 * A send is taken before the message goes out and given back if the provider surely did not take it, so of any number at once
 * exactly the limit goes out, and an outage of the provider does not use the hour up.
 *
 * A failed check cannot be taken beforehand: fifty good people linked at once would then use up ten places that none of them needs
 * in the end, and the honest would be refused. So there is a look before the paid checks, which are not made once the hour is used
 * up, and a count after each verdict against a person: exactly the limit is answered as a verdict, and what is beyond it as
 * `rate_limit_exceeded`. What this costs: of wrong guesses in flight at the very moment the limit is reached some are paid for
 * beyond it. They are never more than the plan lets in within a minute, once an hour.
 */

import type { Caller } from '#shared/http/caller.ts';
import { logEvent } from '#shared/log.ts';
import { Problem, problem } from '#shared/problems.ts';
import { PLANS } from './plans.ts';
import type { Limit, RateLimiter } from './rate-limiter.ts';
import type { Standing } from './windows.ts';

const HOUR_SECONDS = 3600;

/** The request on whose behalf is counted. */
export interface Counted {
  readonly caller: Caller;
  readonly nowMs: number;
  readonly requestId: string;
  readonly operation: string;
}

/** What passes if nothing can be counted. */
const UNCOUNTED: Standing = { admitted: true, remaining: 0, resetSeconds: 1 };

const countedOr = async <T, U>(counting: Promise<T>, uncounted: U, counted: Counted): Promise<T | U> => {
  try {
    return await counting;
  } catch (error) {
    logEvent('rate_limiter_unreachable', {
      request_id: counted.requestId,
      operation: counted.operation,
      key_id: counted.caller.keyId,
      error_name: error instanceof Error ? error.name : 'unknown',
    });
    return uncounted;
  }
};

/** Throws `rate_limit_exceeded` if there is no room. */
const demandRoom = ({ admitted, resetSeconds }: Standing): void => {
  if (!admitted) throw problem('rate_limit_exceeded', { retryAfterSeconds: resetSeconds });
};

/** The SMS that a key sends in an hour. */
export interface SmsAllowance {
  /** Takes one, or throws `rate_limit_exceeded`. */
  take(): Promise<void>;
  /** Nothing went out after all. */
  giveBack(): Promise<void>;
}

export const smsAllowance = (rateLimiter: RateLimiter, counted: Counted): SmsAllowance => {
  const { keyId, plan } = counted.caller;
  const limit: Limit = {
    subject: `${keyId}:sms`,
    limit: PLANS[plan].smsSendsPerHour,
    windowSeconds: HOUR_SECONDS,
  };
  let isTaken = false;
  return {
    async take() {
      const standing = await countedOr(rateLimiter.count(limit, counted.nowMs), undefined, counted);
      if (standing !== undefined) demandRoom(standing);
      isTaken = standing !== undefined;
    },
    async giveBack() {
      // What went uncounted must not be taken off what others have counted.
      if (isTaken) await countedOr(rateLimiter.giveBack(limit, counted.nowMs), undefined, counted);
      isTaken = false;
    },
  };
};

/** Where there is no key, addresses are throttled instead. */
export const NO_ALLOWANCE: SmsAllowance = { take: async () => {}, giveBack: async () => {} };

/** The failed identity checks of a key in an hour. */
export interface FailedChecks {
  /** Where the key stands before a check. */
  standing(): Promise<Standing>;
  /** Makes a paid check if `before` has room for it, and counts it if it ends in a verdict against the person. */
  within(before: Standing, check: () => Promise<void>): Promise<void>;
}

const isVerdict = (error: unknown): boolean =>
  error instanceof Problem && (error.code === 'identity_mismatch' || error.code === 'phone_not_owned');

export const failedChecks = (rateLimiter: RateLimiter, counted: Counted): FailedChecks => {
  const { keyId, plan } = counted.caller;
  const limit: Limit = {
    subject: `${keyId}:identity-failures`,
    limit: PLANS[plan].failedIdentityChecksPerHour,
    windowSeconds: HOUR_SECONDS,
  };
  return {
    standing: () => countedOr(rateLimiter.standing(limit, counted.nowMs), UNCOUNTED, counted),
    async within(before, check) {
      demandRoom(before);
      try {
        await check();
      } catch (error) {
        if (isVerdict(error)) {
          demandRoom(await countedOr(rateLimiter.count(limit, counted.nowMs), UNCOUNTED, counted));
        }
        throw error;
      }
    },
  };
};
