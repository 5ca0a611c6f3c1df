import type { Clock } from '#shared/clock.ts';
import { checkPerson, type PersonToCheck, UndecidedCheck } from '#shared/identity-registry/check-person.ts';
import type { IdentityRegistry } from '#shared/identity-registry/port.ts';
import { Problem } from '#shared/problems.ts';
import type { RateLimiter } from '#shared/rate-limits/rate-limiter.ts';
import { consume, refund } from '#shared/rate-limits/request-limits.ts';
import type { CheckLimits } from './check-limits.ts';

interface PaidCheckDeps {
  readonly rateLimiter: Pick<RateLimiter, 'increment' | 'decrement'>;
  readonly identityRegistry: IdentityRegistry;
  readonly clock: Clock;
}

interface PaidCheck {
  readonly limits: CheckLimits;
  readonly person: PersonToCheck;
}

/**
 * Counts the beginning of a check, asks both registries, and counts a verdict against the person. Throws `identity_mismatch` or
 * `phone_not_owned` after such a verdict, the problem of a limit that is used up in place of it, and `verification_unavailable` without
 * one. Nothing stays counted if no registry was reached. A verdict that cannot be counted is not thrown: the error of the table is.
 */
export const paidCheck = async (
  { rateLimiter, identityRegistry, clock }: PaidCheckDeps,
  { limits, person }: PaidCheck,
): Promise<void> => {
  const begun = await consume(rateLimiter, limits.begun, clock());
  try {
    await checkPerson(identityRegistry, person);
  } catch (error) {
    if (error instanceof UndecidedCheck && !error.isReached) await refund(rateLimiter, begun);
    if (isVerdict(error)) await countFailed(limits, rateLimiter, clock());
    throw error;
  }
};

/** Only these count against the person. */
const isVerdict = (error: unknown): boolean =>
  error instanceof Problem && (error.code === 'identity_mismatch' || error.code === 'phone_not_owned');

/** Makes each count, also if the limit of the other is used up. */
const countFailed = async (
  { failed }: CheckLimits,
  rateLimiter: PaidCheckDeps['rateLimiter'],
  nowMs: number,
): Promise<void> => {
  const counts = await Promise.allSettled(failed.map((limit) => consume(rateLimiter, [limit], nowMs)));
  for (const count of counts) if (count.status === 'rejected') throw count.reason;
};
