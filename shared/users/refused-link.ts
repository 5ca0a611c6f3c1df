/** What a link and a check of a user have in common besides the paid check. */
import type { Clock } from '#shared/clock.ts';
import type { Problem } from '#shared/problems.ts';
import type { RateLimiter } from '#shared/rate-limits/rate-limiter.ts';
import { consume } from '#shared/rate-limits/request-limits.ts';
import { overtakenProblem } from '#shared/table/retry-conflicts.ts';
import type { CheckLimits } from './check-limits.ts';
import type { Refuse } from './link-rules.ts';

/** What was read can change until the result is written: it is then read again, at most twice. */
export const MAX_READS = 3;

export const changedTooOften = (): Problem =>
  overtakenProblem(`what was read changed ${MAX_READS} times until the result was written`);

interface Deps {
  readonly rateLimiter: Pick<RateLimiter, 'increment' | 'decrement'>;
  readonly clock: Clock;
}

/** Throws the problem of a decision, after counting it as a refused link if it counts. Throws `rate_limit_exceeded` if none is left. */
export const refuseLink = async (
  { rateLimiter, clock }: Deps,
  { problem, counts }: Refuse,
  { refusedLink }: CheckLimits,
): Promise<never> => {
  if (counts) await consume(rateLimiter, [refusedLink], clock());
  throw problem;
};
