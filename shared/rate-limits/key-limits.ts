/**
 * The hourly and daily limits of a key. If their store cannot be reached the request passes, as with the plan's limit, and a metric
 * counts it.
 */
import type { Caller } from '#shared/http/caller.ts';
import { logRateLimiterUnreachable } from '#shared/log.ts';
import { type Problem, problem } from '#shared/problems.ts';
import type { ItemKey } from '#shared/table/keys.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { KEY_LIMITS, type KeyLimitName, keyLimitOf } from './plans.ts';
import { type Limit, type LimitState, limitItemKey, limitStateIn, type RateLimiter } from './rate-limiter.ts';

/** Something that was counted and can be refunded. */
export interface Consumed {
  /** Refunds it; a second call refunds nothing. */
  refund(): Promise<void>;
}

/** The hourly and daily limits of one key. */
export interface KeyLimits {
  /** Throws `rate_limit_exceeded` if one of the limits is used up; counts nothing. One call for any number of limits. */
  check(...names: readonly KeyLimitName[]): Promise<void>;
  /** Counts one, or throws `rate_limit_exceeded` and counts nothing. */
  consume(name: KeyLimitName): Promise<Consumed>;
  /** The keys of limits' items, for a batch that reads other items too. */
  itemKeys(...names: readonly KeyLimitName[]): readonly ItemKey[];
  /** Takes the items that such a batch read: the next `check` of each of these limits makes no call. */
  useItems(items: readonly StoredItem[], ...names: readonly KeyLimitName[]): void;
}

/** The request that is counted. */
export interface CountedRequest {
  readonly caller: Caller;
  readonly requestId: string;
  readonly operation: string;
  readonly nowMs: number;
}

/** The limit of a key as it is stored. The subject's form is shared with the command `keys limits`. */
export const keyLimit = (
  name: KeyLimitName,
  { keyId, plan, limits }: Pick<Caller, 'keyId' | 'plan' | 'limits'>,
): Limit => ({
  subject: `${keyId}:${name}`,
  limit: keyLimitOf(name, plan, limits),
  windowSeconds: KEY_LIMITS[name].windowSeconds,
});

/** Counts nothing. It is used where no key is required: other controls limit such a caller. */
export const NOT_LIMITED: KeyLimits = {
  check: async () => {},
  consume: async () => ({ refund: async () => {} }),
  itemKeys: () => [],
  useItems: () => {},
};

/** Returns the limits of the key that makes a request. */
export const keyLimits = (rateLimiter: RateLimiter, request: CountedRequest): KeyLimits => {
  const { caller, nowMs } = request;
  const itemsRead = new Map<KeyLimitName, readonly StoredItem[]>();

  const orUncounted = async <Result>(counting: Promise<Result>): Promise<Result | undefined> => {
    try {
      return await counting;
    } catch (error) {
      logRateLimiterUnreachable(error, { ...request, keyId: caller.keyId });
      return undefined;
    }
  };

  return {
    async check(...names) {
      const limits = names.map((name) => keyLimit(name, caller));
      const states = names.every((name) => itemsRead.has(name))
        ? limits.map((limit, index) =>
            limitStateIn(itemsRead.get(names[index] as KeyLimitName) ?? [], limit, nowMs),
          )
        : ((await orUncounted(rateLimiter.read(limits, nowMs))) ?? []);
      for (const name of names) itemsRead.delete(name);
      const index = states.findIndex(({ allowed }) => !allowed);
      if (index >= 0)
        throw exceeded(names[index] as KeyLimitName, limits[index] as Limit, states[index] as LimitState);
    },

    itemKeys: (...names) => names.map((name) => limitItemKey(keyLimit(name, caller), nowMs)),

    useItems(items, ...names) {
      for (const name of names) itemsRead.set(name, items);
    },

    async consume(name) {
      const limit = keyLimit(name, caller);
      const state = await orUncounted(rateLimiter.increment(limit, nowMs));
      if (state !== undefined && !state.allowed) throw exceeded(name, limit, state);
      // A count that was not made must not be refunded.
      let isCounted = state !== undefined;
      return {
        async refund() {
          if (isCounted) await orUncounted(rateLimiter.decrement(limit, nowMs));
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
