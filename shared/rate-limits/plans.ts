import * as v from 'valibot';
import type { ProblemCode } from '#shared/problems.ts';

/** Every limit of a plan and of a key. These numbers are defined only here; docs/limits.md is tested against them. */

/** Requests per clock minute (UTC). */
export const PLANS = {
  free: { requestsPerMinute: 100 },
  professional: { requestsPerMinute: 1000 },
} as const;

export type PlanName = keyof typeof PLANS;

export const PLAN_NAMES = Object.keys(PLANS) as [PlanName, ...PlanName[]];

export const planTable = <Value>(of: (plan: PlanName) => Value): Record<PlanName, Value> =>
  Object.fromEntries(PLAN_NAMES.map((plan) => [plan, of(plan)])) as Record<PlanName, Value>;

export const WINDOW_SECONDS = 60;

export const HOUR_SECONDS = 3600;
export const DAY_SECONDS = 24 * HOUR_SECONDS;

/** A count is kept this many days after its window: the counts are the history of a key's use. */
export const KEPT_DAYS = 35;

interface KeyLimit {
  /** What is counted, in the words of the docs. */
  readonly counts: string;
  /** In seconds, UTC. */
  readonly windowSeconds: number;
  readonly byPlan: Readonly<Record<PlanName, number>>;
}

/** The hourly and daily limits of one key. An admin can override each of them for a key. */
export const KEY_LIMITS = {
  'sms-per-hour': {
    counts: 'Sends that reached an SMS provider',
    windowSeconds: HOUR_SECONDS,
    byPlan: { free: 100, professional: 2000 },
  },
  'failed-checks-per-hour': {
    counts: 'Links and checks refused with identity_mismatch or phone_not_owned',
    windowSeconds: HOUR_SECONDS,
    byPlan: { free: 10, professional: 100 },
  },
  'refused-links-per-hour': {
    counts:
      'Links and checks refused with buyer_not_registered, user_conflict, external_id_conflict or link_refused; undecided ones',
    windowSeconds: HOUR_SECONDS,
    byPlan: { free: 100, professional: 1000 },
  },
  'paid-checks-per-day': {
    counts: 'Links and checks that made paid identity checks',
    windowSeconds: DAY_SECONDS,
    byPlan: { free: 500, professional: 20_000 },
  },
  'failed-verifies-per-hour': {
    counts: 'Verifications refused with code_rejected',
    windowSeconds: HOUR_SECONDS,
    byPlan: { free: 100, professional: 1000 },
  },
} as const satisfies Record<string, KeyLimit>;

export type KeyLimitName = keyof typeof KEY_LIMITS;

export const KEY_LIMIT_NAMES = Object.keys(KEY_LIMITS) as [KeyLimitName, ...KeyLimitName[]];

export type HourlyLimitName = {
  [Name in KeyLimitName]: (typeof KEY_LIMITS)[Name]['windowSeconds'] extends typeof HOUR_SECONDS
    ? Name
    : never;
}[KeyLimitName];

export const limitOverridesSchema = v.partial(
  v.object(
    Object.fromEntries(KEY_LIMIT_NAMES.map((name) => [name, v.pipe(v.number(), v.integer(), v.minValue(0))])),
  ),
);

export type LimitOverrides = v.InferOutput<typeof limitOverridesSchema>;

/**
 * The token bucket in front of the exact limiter. A caller may send n at the end of one minute and n at the start of the next, so its
 * burst is 2n: the least that never refuses a caller who keeps to n a minute.
 */
export const usagePlanThrottle = (plan: PlanName): { rateLimit: number; burstLimit: number } => ({
  rateLimit: PLANS[plan].requestsPerMinute / WINDOW_SECONDS,
  burstLimit: PLANS[plan].requestsPerMinute * 2,
});

/** At most `limit` in each clock window (UTC). */
export interface Limit {
  /** A key id, a seller id, `person:<seller>#<hash>`, `phone:<hash>` or `stage:<ceiling>`. Never personal data. */
  readonly subject: string;
  /** Limits of a subject with different names are counted apart. */
  readonly name: string;
  readonly limit: number;
  readonly windowSeconds: number;
  /** How long a count is kept after its window. */
  readonly keptSeconds: number;
  /** The problem of a request over the limit. */
  readonly problem: ProblemCode;
  /** Whether a request passes if the counts cannot be reached. */
  readonly passesUncounted: boolean;
  /** The key that the log names when the limit is used up. */
  readonly keyId?: string;
  /** The ceiling of which the log shows how much is used. */
  readonly ceiling?: { readonly name: string; readonly callsPerDay: number };
}

export interface LimitState {
  /** Whether the increment was counted; for a read, whether the next one would be. */
  readonly allowed: boolean;
  readonly remaining: number;
  /** Seconds until the next window begins; at least 1. */
  readonly resetSeconds: number;
}

export interface LimitedKey {
  readonly keyId: string;
  readonly plan: PlanName;
  readonly limits: LimitOverrides;
}

/** The usage plan still limits a key that cannot be counted. */
const OF_KEY = {
  keptSeconds: KEPT_DAYS * DAY_SECONDS,
  problem: 'rate_limit_exceeded',
  passesUncounted: true,
} as const;

export const minuteLimit = ({ keyId, plan }: Omit<LimitedKey, 'limits'>): Limit => ({
  ...OF_KEY,
  subject: keyId,
  name: 'minute',
  limit: PLANS[plan].requestsPerMinute,
  windowSeconds: WINDOW_SECONDS,
});

export const keyLimit = (name: KeyLimitName, { keyId, plan, limits }: LimitedKey): Limit => ({
  ...OF_KEY,
  subject: keyId,
  keyId,
  name,
  limit: limits[name] ?? KEY_LIMITS[name].byPlan[plan],
  windowSeconds: KEY_LIMITS[name].windowSeconds,
});

/** One limit in the headers RateLimit and RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers). */
export type RateLimitItem = Pick<Limit, 'name' | 'limit' | 'windowSeconds'> & Omit<LimitState, 'allowed'>;

export const planItem = (plan: PlanName, remaining: number, resetSeconds: number): RateLimitItem => ({
  name: plan,
  limit: PLANS[plan].requestsPerMinute,
  windowSeconds: WINDOW_SECONDS,
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
