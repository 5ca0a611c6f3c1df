/**
 * The hourly and daily limits of a key. If their store cannot be reached the request passes, as with the plan's limit, and a metric
 * counts it.
 */
import type { Caller } from '#shared/http/caller.ts';
import { errorFields, logEvent } from '#shared/log.ts';
import { type Problem, problem } from '#shared/problems.ts';
import { keyLimit } from './limits-of-key.ts';
import type { LimitsRead } from './plan-limit.ts';
import type { HourlyLimitName, KeyLimitName } from './plans.ts';
import type { Limit, LimitState, RateLimiter } from './rate-limiter.ts';

/** Something that was counted and can be refunded. */
export interface Consumed {
  /** Refunds it; a second call refunds nothing. */
  refund(): Promise<void>;
}

/** The hourly and daily limits of one key. */
export interface KeyLimits {
  /**
   * Throws `rate_limit_exceeded` if the limit was used up when the request was counted; counts nothing and makes no call. The row must
   * name the limit in `limitsRead`.
   */
  check(name: HourlyLimitName): Promise<void>;
  /** Like `check`, for a request that has waited: reads the limit as it is now. */
  recheck(name: HourlyLimitName): Promise<void>;
  /** Counts one, or throws `rate_limit_exceeded` and counts nothing. */
  consume(name: KeyLimitName): Promise<Consumed>;
}

/** The request that is counted. */
export interface CountedRequest {
  readonly caller: Caller;
  readonly nowMs: number;
  /** The count against the plan's limit. */
  readonly withinPlan: Promise<LimitsRead>;
}

/** Counts nothing. It is used where no key is required: other controls limit such a caller. */
export const NOT_LIMITED: KeyLimits = {
  check: async () => {},
  recheck: async () => {},
  consume: async () => ({ refund: async () => {} }),
};

/** Returns the limits of the key that makes a request. Every call first waits for the plan's limit, and throws if that is exceeded. */
export const keyLimits = (rateLimiter: RateLimiter, request: CountedRequest): KeyLimits => {
  const { caller, nowMs, withinPlan } = request;
  let isReachable = true;

  /** Undefined if the store cannot be reached. It is then not called again, so that it delays a request only once. */
  const orUncounted = async <Result>(count: () => Promise<Result>): Promise<Result | undefined> => {
    if ((await withinPlan) === undefined || !isReachable) return undefined;
    try {
      return await count();
    } catch (error) {
      isReachable = false;
      logEvent('rate_limiter_unreachable', { key_id: caller.keyId, ...errorFields(error) });
      return undefined;
    }
  };

  return {
    async check(name) {
      const state = (await withinPlan)?.get(name);
      if (state !== undefined && !state.allowed) throw exceeded(name, keyLimit(name, caller), state);
    },

    async recheck(name) {
      const limit = keyLimit(name, caller);
      const [state] = (await orUncounted(() => rateLimiter.read([limit], nowMs))) ?? [];
      if (state !== undefined && !state.allowed) throw exceeded(name, limit, state);
    },

    async consume(name) {
      const limit = keyLimit(name, caller);
      const state = await orUncounted(() => rateLimiter.increment(limit, nowMs));
      if (state !== undefined && !state.allowed) throw exceeded(name, limit, state);
      // A count that was not made must not be refunded.
      let isCounted = state !== undefined;
      return {
        async refund() {
          if (isCounted) await orUncounted(() => rateLimiter.decrement(limit, nowMs));
          isCounted = false;
        },
      };
    },
  };
};

const exceeded = (name: KeyLimitName, limit: Limit, { resetSeconds }: LimitState): Problem =>
  problem('rate_limit_exceeded', {
    retryAfterSeconds: resetSeconds,
    rateLimit: { name, quota: limit.limit, windowSeconds: limit.windowSeconds, remaining: 0, resetSeconds },
  });
