import type { Clock } from '#shared/clock.ts';

/** A usage plan's throttle. `rateLimit`: tokens per second; `burstLimit`: the capacity of the bucket. */
export interface Throttle {
  readonly rateLimit: number;
  readonly burstLimit: number;
}

interface Bucket {
  readonly tokens: number;
  readonly atMs: number;
}

/** Full buckets are removed once there are this many: a full bucket says no more than a missing one. */
const SWEEP_AT = 10_000;

/** A token bucket for each name, full at first. */
export const tokenBuckets = (clock: Clock) => {
  const buckets = new Map<string, Bucket & { readonly throttle: Throttle }>();

  const level = (bucket: Bucket, { rateLimit, burstLimit }: Throttle, nowMs: number): number =>
    // A clock that is set back adds and removes no tokens.
    Math.min(burstLimit, bucket.tokens + (Math.max(0, nowMs - bucket.atMs) / 1000) * rateLimit);

  const sweep = (nowMs: number): void => {
    for (const [name, bucket] of buckets) {
      if (level(bucket, bucket.throttle, nowMs) >= bucket.throttle.burstLimit) buckets.delete(name);
    }
  };

  return {
    /** Consumes a token; false if the bucket is empty. A changed throttle applies at once. */
    consume(name: string, throttle: Throttle): boolean {
      const nowMs = clock();
      if (buckets.size >= SWEEP_AT) sweep(nowMs);
      const bucket = buckets.get(name);
      const tokens = bucket === undefined ? throttle.burstLimit : level(bucket, throttle, nowMs);
      const passes = tokens >= 1;
      buckets.set(name, { tokens: passes ? tokens - 1 : tokens, atMs: nowMs, throttle });
      return passes;
    },
  };
};

export type TokenBuckets = ReturnType<typeof tokenBuckets>;
