import type { Caller } from '#shared/http/caller.ts';
import type { Headers } from '#shared/http/responses.ts';
import { logEvent } from '#shared/log.ts';
import { problem } from '#shared/problems.ts';
import { PLANS, rateLimit, rateLimitPolicy, WINDOW_SECONDS } from './plans.ts';
import type { RateLimiter } from './rate-limiter.ts';
import type { Standing } from './windows.ts';

/** Whether the plan has room for a request, found out beside everything else. */
export interface Admission {
  /** Resolves if there is room, rejects with `rate_limit_exceeded` if not. */
  readonly verdict: Promise<void>;
  /** RateLimit and RateLimit-Policy, once the verdict is known; none if the rateLimiter could not be reached. */
  headers(): Headers;
}

/** Counts a request of a key. A rateLimiter that cannot be reached lets it pass: the usage plan still stands, and a metric says so. */
export const admit = (
  rateLimiter: Pick<RateLimiter, 'count'>,
  { keyId, plan }: Caller,
  nowMs: number,
  about: { readonly requestId: string; readonly operation: string },
): Admission => {
  let standing: Standing | undefined;
  const limit = { subject: keyId, limit: PLANS[plan].requestsPerMinute, windowSeconds: WINDOW_SECONDS };
  const verdict = rateLimiter.count(limit, nowMs).then(
    (counted) => {
      standing = counted;
      if (!counted.admitted)
        throw problem('rate_limit_exceeded', { retryAfterSeconds: counted.resetSeconds });
    },
    (error: unknown) =>
      logEvent('rate_limiter_unreachable', {
        request_id: about.requestId,
        operation: about.operation,
        key_id: keyId,
        error_name: error instanceof Error ? error.name : 'unknown',
      }),
  );
  // It is awaited later, or not at all if the request fails first; a rejection must not end the process meanwhile.
  verdict.catch(() => {});
  return {
    verdict,
    headers: (): Headers => {
      if (standing === undefined) return {};
      return {
        'RateLimit-Policy': rateLimitPolicy(plan),
        RateLimit: rateLimit(plan, standing.remaining, standing.resetSeconds),
      };
    },
  };
};
