/** Limits, their states, and the response headers that show both. */
import {
  KEY_LIMITS,
  type KeyLimitName,
  type LimitOverrides,
  PLANS,
  type PlanName,
  WINDOW_SECONDS,
} from './plans.ts';

/** A limit on one subject: at most `limit` in each clock window (UTC). */
export interface Limit {
  /** A key id, a seller id or `stage:<ceiling>`. Never personal data. */
  readonly subject: string;
  /** What is counted. Limits of a subject with different names are counted apart. */
  readonly name: string;
  readonly limit: number;
  readonly windowSeconds: number;
}

/** The state of a limit in one window. */
export interface LimitState {
  /** Whether the increment was counted; for a read, whether the next one would be. */
  readonly allowed: boolean;
  readonly remaining: number;
  /** Seconds until the next window begins; at least 1. */
  readonly resetSeconds: number;
}

/** A key, as far as its limits depend on it. */
export interface LimitedKey {
  readonly keyId: string;
  readonly plan: PlanName;
  readonly limits: LimitOverrides;
}

/** The plan's limit of requests per clock minute. */
export const minuteLimit = ({ keyId, plan }: Omit<LimitedKey, 'limits'>): Limit => ({
  subject: keyId,
  name: 'minute',
  limit: PLANS[plan].requestsPerMinute,
  windowSeconds: WINDOW_SECONDS,
});

/** An hourly or daily limit: the key's own number, or its plan's. */
export const keyLimit = (name: KeyLimitName, { keyId, plan, limits }: LimitedKey): Limit => ({
  subject: keyId,
  name,
  limit: limits[name] ?? KEY_LIMITS[name].byPlan[plan],
  windowSeconds: KEY_LIMITS[name].windowSeconds,
});

/** One limit in the headers RateLimit and RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers). */
export type RateLimitItem = Omit<Limit, 'subject'> & Omit<LimitState, 'allowed'>;

/** The plan's limit per minute as an item of the headers, under the name of the plan. */
export const planItem = (plan: PlanName, remaining: number, resetSeconds: number): RateLimitItem => ({
  name: plan,
  limit: PLANS[plan].requestsPerMinute,
  windowSeconds: WINDOW_SECONDS,
  remaining,
  resetSeconds,
});

/**
 * Returns both headers over the given limits; none for no limits. `"free";q=100;w=60` is the quota and the window of a limit,
 * `"free";r=57;t=23` what remains of the window and the seconds until the next one.
 */
export const rateLimitHeaders = (items: readonly RateLimitItem[]): Readonly<Record<string, string>> => {
  if (items.length === 0) return {};
  const policies = items.map(({ name, limit, windowSeconds }) => `"${name}";q=${limit};w=${windowSeconds}`);
  const states = items.map(
    ({ name, remaining, resetSeconds }) => `"${name}";r=${remaining};t=${resetSeconds}`,
  );
  return { 'RateLimit-Policy': policies.join(', '), RateLimit: states.join(', ') };
};
