import type { Caller } from '#shared/http/caller.ts';
import { errorFields, logEvent } from '#shared/log.ts';
import { problem } from '#shared/problems.ts';
import { planItem } from './headers.ts';
import { keyLimit, minuteLimit } from './limits-of-key.ts';
import type { HourlyLimitName, RateLimitItem } from './plans.ts';
import type { LimitState, RateLimiter } from './rate-limiter.ts';

/** The states of hourly limits when the request was counted. Undefined if the limiter's store could not be reached. */
export type LimitsRead = ReadonlyMap<HourlyLimitName, LimitState> | undefined;

/** The count of one request against its plan, which runs beside the reads of the request. */
export interface PlanLimit {
  /** Resolves if the plan's limit allows the request, rejects with `rate_limit_exceeded` if not. */
  readonly withinPlan: Promise<LimitsRead>;
  /** The plan's item of the rate-limit headers, once counted; none if the limiter could not be reached. */
  headerItems(): readonly RateLimitItem[];
}

/** The request that is counted. */
interface CountedRequest {
  readonly nowMs: number;
  /** The hourly limits to read in the same call. */
  readonly limitsToRead: readonly HourlyLimitName[];
}

/**
 * Counts a request of a key. If the limiter's store cannot be reached the request passes: the usage plan still limits the key, and a
 * metric counts it.
 */
export const countRequest = (
  rateLimiter: Pick<RateLimiter, 'incrementAndRead'>,
  caller: Caller,
  request: CountedRequest,
): PlanLimit => {
  const { keyId, plan } = caller;
  const { nowMs, limitsToRead } = request;
  const others = limitsToRead.map((name) => keyLimit(name, caller));
  let state: LimitState | undefined;
  const withinPlan = rateLimiter.incrementAndRead(minuteLimit(caller), others, nowMs).then(
    ([counted, ...states]): LimitsRead => {
      state = counted;
      if (!counted.allowed) throw problem('rate_limit_exceeded', { retryAfterSeconds: counted.resetSeconds });
      return new Map(limitsToRead.map((name, index) => [name, states[index] as LimitState]));
    },
    (error: unknown) => {
      logEvent('rate_limiter_unreachable', { key_id: keyId, ...errorFields(error) });
      return undefined;
    },
  );
  // It is awaited later, or never if the request fails first. An unhandled rejection would end the process.
  withinPlan.catch(() => {});
  return {
    withinPlan,
    headerItems: () => (state === undefined ? [] : [planItem(plan, state.remaining, state.resetSeconds)]),
  };
};
