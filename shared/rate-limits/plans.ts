/** The usage plans: the only place where their numbers stand. */

export const PLANS = {
  free: { requestsPerMinute: 100, failedIdentityChecksPerHour: 10, smsSendsPerHour: 100 },
  professional: { requestsPerMinute: 1000, failedIdentityChecksPerHour: 100, smsSendsPerHour: 2000 },
} as const;

export type PlanName = keyof typeof PLANS;

export const PLAN_NAMES = Object.keys(PLANS) as [PlanName, ...PlanName[]];

/** A value for each plan. */
export const planTable = <Value>(of: (plan: PlanName) => Value): Record<PlanName, Value> =>
  Object.fromEntries(PLAN_NAMES.map((plan) => [plan, of(plan)])) as Record<PlanName, Value>;

/** The window of the request limit, in seconds: one clock minute (UTC). */
export const WINDOW_SECONDS = 60;

/**
 * The outer wall, an API Gateway usage plan's token bucket. Rate n/60 a second refills n in a minute; a caller may send n at the
 * end of one clock minute and n at the start of the next, so the least bucket that never refuses an honest caller holds 2n.
 */
export const usagePlanThrottle = (plan: PlanName): { rateLimit: number; burstLimit: number } => ({
  rateLimit: PLANS[plan].requestsPerMinute / WINDOW_SECONDS,
  burstLimit: PLANS[plan].requestsPerMinute * 2,
});

/** `"free";q=100;w=60`: the RateLimit-Policy of a plan (IETF draft-ietf-httpapi-ratelimit-headers). */
export const rateLimitPolicy = (plan: PlanName): string =>
  `"${plan}";q=${PLANS[plan].requestsPerMinute};w=${WINDOW_SECONDS}`;

/** `"free";r=57;t=23`: what is left of the window, and the seconds until the next one. */
export const rateLimit = (plan: PlanName, remaining: number, resetSeconds: number): string =>
  `"${plan}";r=${remaining};t=${resetSeconds}`;
