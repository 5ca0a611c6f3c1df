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

/** The firewall rule for the one-time-code paths on AWS: requests per address in the last five minutes. */
const REQUESTS_PER_ADDRESS = 100;
const WINDOW_MS = 300_000;

/**
 * A rate-based rule as AWS WAF has it: an address is refused while it sent more than the limit in the last five minutes. Refused requests
 * count too.
 */
export const rateBasedFirewall = (clock: Clock) => {
  /** Address -> the times of its last requests, oldest first, at most as many as the limit. */
  const requests = new Map<string, number[]>();
  return {
    /** Counts a request of the address; false if the rule refuses it. */
    allows(address: string): boolean {
      const nowMs = clock();
      const times = requests.get(address) ?? [];
      const earliest = times.length < REQUESTS_PER_ADDRESS ? undefined : times.shift();
      times.push(nowMs);
      requests.set(address, times);
      return earliest === undefined || earliest <= nowMs - WINDOW_MS;
    },
    /** Forgets the requests of every address. */
    clear: () => requests.clear(),
  };
};

/** The counts that the gateway keeps in memory: of keys in their plans, and of addresses. */
export const gatewayCounts = (clock: Clock) => {
  const buckets = tokenBuckets(clock);
  const firewall = rateBasedFirewall(clock);
  return {
    buckets,
    firewall,
    clear(): void {
      buckets.clear();
      firewall.clear();
    },
  };
};

export type GatewayCounts = ReturnType<typeof gatewayCounts>;
