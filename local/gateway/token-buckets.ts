import type { Clock } from '#shared/clock.ts';

/** A usage plan's throttle. `rateLimit`: tokens per second; `burstLimit`: the capacity of the bucket. */
export interface Throttle {
  readonly rateLimit: number;
  readonly burstLimit: number;
}

/** A token bucket for each name, full at first. */
export const tokenBuckets = (clock: Clock) => {
  const buckets = new Map<string, { readonly tokens: number; readonly atMs: number }>();
  return {
    /** Consumes a token; false if the bucket is empty. A changed throttle applies at once. */
    consume(name: string, { rateLimit, burstLimit }: Throttle): boolean {
      const atMs = clock();
      const last = buckets.get(name) ?? { tokens: burstLimit, atMs };
      // A clock that is set back adds and removes no tokens.
      const refill = (Math.max(0, atMs - last.atMs) / 1000) * rateLimit;
      const tokens = Math.min(burstLimit, last.tokens + refill);
      const passes = tokens >= 1;
      buckets.set(name, { tokens: passes ? tokens - 1 : tokens, atMs });
      return passes;
    },
    /** Fills every bucket. */
    clear: () => buckets.clear(),
  };
};

export type TokenBuckets = ReturnType<typeof tokenBuckets>;
