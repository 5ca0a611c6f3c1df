/** The headers RateLimit and RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers). */
import { MINUTE_SECONDS } from '#shared/clock.ts';
import type { Limit, LimitState } from './limit.ts';
import { PLANS, type PlanName } from './plans.ts';

/** One limit in both headers. */
export type RateLimitItem = Pick<Limit, 'name' | 'limit' | 'windowSeconds'> &
  Pick<LimitState, 'remaining' | 'resetSeconds'>;

export const planItem = (plan: PlanName, remaining: number, resetSeconds: number): RateLimitItem => ({
  name: plan,
  limit: PLANS[plan].requestsPerMinute,
  windowSeconds: MINUTE_SECONDS,
  remaining,
  resetSeconds,
});

/** `"free";q=100;w=60` is the quota and the window, `"free";r=57;t=23` what remains and the seconds until the next window. */
export const rateLimitHeaders = (items: readonly RateLimitItem[]): Readonly<Record<string, string>> => {
  if (items.length === 0) return {};
  const policies = items.map(({ name, limit, windowSeconds }) => `"${name}";q=${limit};w=${windowSeconds}`);
  const states = items.map(
    ({ name, remaining, resetSeconds }) => `"${name}";r=${remaining};t=${resetSeconds}`,
  );
  return { 'RateLimit-Policy': policies.join(', '), RateLimit: states.join(', ') };
};
