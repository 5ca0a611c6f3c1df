import type { Caller } from '#shared/http/caller.ts';
import { logRateLimiterUnreachable } from '#shared/log.ts';
import { problem } from '#shared/problems.ts';
import { planItem } from './headers.ts';
import { PLANS, type RateLimitItem, WINDOW_SECONDS } from './plans.ts';
import type { LimitState, RateLimiter } from './rate-limiter.ts';

/** The count of one request against its plan, which runs beside the reads of the request. */
export interface PlanLimit {
  /** Resolves if the plan's limit allows the request, rejects with `rate_limit_exceeded` if not. */
  readonly withinPlan: Promise<void>;
  /** The plan's item of the rate-limit headers, once counted; none if the limiter could not be reached. */
  headerItems(): readonly RateLimitItem[];
}

/**
 * Counts a request of a key. If the limiter's store cannot be reached the request passes: the usage plan still limits the key, and a
 * metric counts it.
 */
export const countRequest = (
  rateLimiter: Pick<RateLimiter, 'increment'>,
  { keyId, plan }: Caller,
  request: { readonly requestId: string; readonly operation: string; readonly nowMs: number },
): PlanLimit => {
  let state: LimitState | undefined;
  const limit = { subject: keyId, limit: PLANS[plan].requestsPerMinute, windowSeconds: WINDOW_SECONDS };
  const withinPlan = rateLimiter.increment(limit, request.nowMs).then(
    (counted) => {
      state = counted;
      if (!counted.allowed) throw problem('rate_limit_exceeded', { retryAfterSeconds: counted.resetSeconds });
    },
    (error: unknown) => logRateLimiterUnreachable(error, { ...request, keyId }),
  );
  // It is awaited later, or never if the request fails first. An unhandled rejection would end the process.
  withinPlan.catch(() => {});
  return {
    withinPlan,
    headerItems: () => (state === undefined ? [] : [planItem(plan, state.remaining, state.resetSeconds)]),
  };
};
