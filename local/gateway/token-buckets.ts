import type { Clock } from '#shared/clock.ts';

/** A usage plan's throttle. `rateLimit`: tokens a second; `burstLimit`: what the bucket holds. */
export interface Throttle {
  readonly rateLimit: number;
  readonly burstLimit: number;
}

interface Bucket {
  readonly tokens: number;
  readonly atMs: number;
}

/** Buckets that stand untouched are looked through once there are this many. */
const SWEEP_AT = 10_000;

/** A token bucket for each name, full at first. */
export const tokenBuckets = (clock: Clock) => {
  const buckets = new Map<string, Bucket & { readonly throttle: Throttle }>();

  const level = (bucket: Bucket, { rateLimit, burstLimit }: Throttle, nowMs: number): number =>
    // A clock that is set back refills nothing and takes nothing away.
    Math.min(burstLimit, bucket.tokens + (Math.max(0, nowMs - bucket.atMs) / 1000) * rateLimit);

  /** A bucket that has filled up again says no more than none. */
  const sweep = (nowMs: number): void => {
    for (const [name, bucket] of buckets) {
      if (level(bucket, bucket.throttle, nowMs) >= bucket.throttle.burstLimit) buckets.delete(name);
    }
  };

  return {
    /** Takes a token; `false` if the bucket is empty. A throttle that was changed acts at once. */
    take(name: string, throttle: Throttle): boolean {
      const nowMs = clock();
      if (buckets.size >= SWEEP_AT) sweep(nowMs);
      const bucket = buckets.get(name);
      const tokens = bucket === undefined ? throttle.burstLimit : level(bucket, throttle, nowMs);
      const admitted = tokens >= 1;
      buckets.set(name, { tokens: admitted ? tokens - 1 : tokens, atMs: nowMs, throttle });
      return admitted;
    },
  };
};

export type TokenBuckets = ReturnType<typeof tokenBuckets>;
