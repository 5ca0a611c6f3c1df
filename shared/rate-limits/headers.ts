import type { Headers } from '#shared/http/responses.ts';
import { PLANS, type PlanName, type RateLimitItem, WINDOW_SECONDS } from './plans.ts';

/** `"free";q=100;w=60`: the quota and the window of a limit. */
const policyItem = ({ name, quota, windowSeconds }: RateLimitItem): string =>
  `"${name}";q=${quota};w=${windowSeconds}`;

/** `"free";r=57;t=23`: what remains of the window, and the seconds until the next one. */
const stateItem = ({ name, remaining, resetSeconds }: RateLimitItem): string =>
  `"${name}";r=${remaining};t=${resetSeconds}`;

/** Both headers over the given limits; none for no limits. */
export const rateLimitHeaders = (items: readonly RateLimitItem[]): Headers =>
  items.length === 0
    ? {}
    : {
        'RateLimit-Policy': items.map(policyItem).join(', '),
        RateLimit: items.map(stateItem).join(', '),
      };

/** The plan's limit per minute as an item of the headers. */
export const planItem = (plan: PlanName, remaining: number, resetSeconds: number): RateLimitItem => ({
  name: plan,
  quota: PLANS[plan].requestsPerMinute,
  windowSeconds: WINDOW_SECONDS,
  remaining,
  resetSeconds,
});
