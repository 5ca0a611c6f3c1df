/** The limits of the key that makes a request. If their store cannot be reached, the request passes: the usage plan still limits the key. */
import type { Clock } from '#shared/clock.ts';
import { errorFields, logEvent } from '#shared/log.ts';
import { Problem, problem } from '#shared/problems.ts';
import {
  type HourlyLimitName,
  type KeyLimitName,
  keyLimit,
  type LimitedKey,
  type LimitState,
  minuteLimit,
  planItem,
  type RateLimitItem,
} from './plans.ts';
import type { RateLimiter } from './rate-limiter.ts';

/** Refunds what was counted. Call it once: each call refunds one. */
export type Refund = () => Promise<unknown>;

/** If one of the counts throws, those before are refunded. */
export const consumeAll = async (...counts: readonly (() => Promise<Refund>)[]): Promise<Refund> => {
  const refunds: Refund[] = [];
  const refundAll = () => Promise.all(refunds.map((refund) => refund()));
  try {
    for (const count of counts) refunds.push(await count());
  } catch (error) {
    await refundAll();
    throw error;
  }
  return refundAll;
};

export interface CountedRequest {
  /** This request counted. */
  readonly plan: RateLimitItem;
  /** The states of the hourly limits that the row names in `limitsRead`. */
  readonly hourly: ReadonlyMap<HourlyLimitName, LimitState>;
}

export interface KeyLimits {
  /** Throws `rate_limit_exceeded` if a limit was used up when the request was counted; the row must name it in `limitsRead`. */
  check(...names: readonly HourlyLimitName[]): Promise<void>;
  /** Like `check`, for a request that has waited: reads the limits as they are now, in one call. */
  recheck(...names: readonly HourlyLimitName[]): Promise<void>;
  /** Counts one, or throws `rate_limit_exceeded` and counts nothing. */
  consume(name: KeyLimitName): Promise<Refund>;
}

/** `rate_limit_exceeded` by an hourly or daily limit, which is an item of its own in the rate-limit headers. */
export class KeyLimitExceeded extends Problem {
  readonly item: RateLimitItem;

  constructor(item: RateLimitItem) {
    super('rate_limit_exceeded', { retryAfterSeconds: item.resetSeconds });
    this.item = item;
  }
}

const logUnreachable = (error: unknown, { keyId }: LimitedKey): undefined => {
  logEvent('rate_limiter_unreachable', { key_id: keyId, ...errorFields(error) });
};

/** Counts a request against its plan, beside its reads. `limitsToRead`: hourly limits to read in the same call. */
export const countRequest = (
  rateLimiter: Pick<RateLimiter, 'incrementAndRead'>,
  caller: LimitedKey,
  { limitsToRead, nowMs }: { readonly limitsToRead: readonly HourlyLimitName[]; readonly nowMs: number },
) => {
  const others = limitsToRead.map((name) => keyLimit(name, caller));
  let item: RateLimitItem | undefined;
  const withinPlan = rateLimiter.incrementAndRead(minuteLimit(caller), others, nowMs).then(
    ([{ allowed, remaining, resetSeconds }, ...states]): CountedRequest => {
      item = planItem(caller.plan, remaining, resetSeconds);
      if (!allowed) throw problem('rate_limit_exceeded', { retryAfterSeconds: resetSeconds });
      const hourly = new Map(limitsToRead.map((name, index) => [name, states[index] as LimitState]));
      return { plan: item, hourly };
    },
    (error: unknown) => logUnreachable(error, caller),
  );
  // It is awaited later, or never if the request fails first. An unhandled rejection would end the process.
  withinPlan.catch(() => {});
  return {
    /** Rejects with `rate_limit_exceeded`. Undefined if the limiter's store could not be reached. */
    withinPlan,
    /** Undefined until the request is counted, or if the limiter could not be reached. */
    headerItem: () => item,
  };
};

export type PlanLimit = ReturnType<typeof countRequest>;

/** Where no key is required, other controls limit a caller. */
const NOT_LIMITED: KeyLimits = {
  check: async () => {},
  recheck: async () => {},
  consume: async () => async () => {},
};

interface LimitedRequest {
  readonly caller: LimitedKey | undefined;
  readonly withinPlan: Promise<CountedRequest | undefined>;
}

/** Every call first waits for the plan's limit, and throws if that is exceeded. */
export const keyLimits = (
  { rateLimiter, clock }: { readonly rateLimiter: RateLimiter; readonly clock: Clock },
  { caller, withinPlan }: LimitedRequest,
): KeyLimits => {
  if (caller === undefined) return NOT_LIMITED;
  const nowMs = clock();
  let isReachable = true;

  /** Undefined if the store cannot be reached. It is then not called again, so that it delays a request only once. */
  const orUncounted = async <Result>(count: () => Promise<Result>): Promise<Result | undefined> => {
    if ((await withinPlan) === undefined || !isReachable) return undefined;
    try {
      return await count();
    } catch (error) {
      isReachable = false;
      return logUnreachable(error, caller);
    }
  };

  const throwIfExceeded = (name: KeyLimitName, state: LimitState | undefined): void => {
    if (state === undefined || state.allowed) return;
    throw new KeyLimitExceeded({ ...keyLimit(name, caller), ...state });
  };

  return {
    async check(...names) {
      const counted = await withinPlan;
      for (const name of names) throwIfExceeded(name, counted?.hourly.get(name));
    },

    async recheck(...names) {
      const limits = names.map((name) => keyLimit(name, caller));
      const states = await orUncounted(() => rateLimiter.read(limits, nowMs));
      for (const [index, name] of names.entries()) throwIfExceeded(name, states?.[index]);
    },

    async consume(name) {
      const limit = keyLimit(name, caller);
      const state = await orUncounted(() => rateLimiter.increment(limit, nowMs));
      throwIfExceeded(name, state);
      if (state?.remaining === 0) logEvent('key_limit_used_up', { limit: name, key_id: caller.keyId });
      // After a count that was not made, the refund does nothing either: the store is not called again.
      return () => orUncounted(() => rateLimiter.decrement(limit, nowMs));
    },
  };
};
