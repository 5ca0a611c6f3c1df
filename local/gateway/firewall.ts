import type { Clock } from '#shared/clock.ts';

/** The firewall rule for the one-time-code paths on AWS: requests per address in the last five minutes. */
const REQUESTS_PER_ADDRESS = 100;
const WINDOW_MS = 300_000;

/** Addresses without a request in the window are removed once there are this many. */
const SWEEP_AT = 10_000;

/**
 * A rate-based rule as AWS WAF has it: an address is refused while it sent more than the limit in the last five minutes. Refused requests
 * count too.
 */
export const rateBasedFirewall = (clock: Clock) => {
  /** Address -> the times of its last requests, oldest first, at most as many as the limit. */
  const requests = new Map<string, number[]>();

  const sweep = (nowMs: number): void => {
    for (const [address, times] of requests) {
      if ((times.at(-1) ?? 0) <= nowMs - WINDOW_MS) requests.delete(address);
    }
  };

  return {
    /** Counts a request of the address; false if the rule refuses it. */
    allows(address: string): boolean {
      const nowMs = clock();
      if (requests.size >= SWEEP_AT) sweep(nowMs);
      const times = requests.get(address) ?? [];
      const earliest = times.length < REQUESTS_PER_ADDRESS ? undefined : times.shift();
      times.push(nowMs);
      requests.set(address, times);
      return earliest === undefined || earliest <= nowMs - WINDOW_MS;
    },
  };
};

export type Firewall = ReturnType<typeof rateBasedFirewall>;
