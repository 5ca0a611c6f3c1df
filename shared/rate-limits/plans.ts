import { MINUTE_SECONDS } from '#shared/clock.ts';

/** Requests per clock minute (UTC). These numbers are defined only here; docs/sellers/limits.md is tested against them. */
export const PLANS = {
  free: { requestsPerMinute: 100 },
  professional: { requestsPerMinute: 1000 },
} as const;

export type PlanName = keyof typeof PLANS;

export const PLAN_NAMES = Object.keys(PLANS) as [PlanName, ...PlanName[]];

/** The plan of a key whose own is unknown to this version. */
export const SMALLEST_PLAN = PLAN_NAMES.reduce((smallest, plan) =>
  PLANS[plan].requestsPerMinute < PLANS[smallest].requestsPerMinute ? plan : smallest,
);

export const planTable = <Value>(of: (plan: PlanName) => Value): Record<PlanName, Value> =>
  Object.fromEntries(PLAN_NAMES.map((plan) => [plan, of(plan)])) as Record<PlanName, Value>;

/**
 * The token bucket in front of the exact limiter. A caller may send n at the end of one minute and n at the start of the next, so its
 * burst is 2n: the least that never refuses a caller who keeps to n a minute.
 */
export const usagePlanThrottle = (plan: PlanName): { rateLimit: number; burstLimit: number } => ({
  rateLimit: PLANS[plan].requestsPerMinute / MINUTE_SECONDS,
  burstLimit: PLANS[plan].requestsPerMinute * 2,
});
