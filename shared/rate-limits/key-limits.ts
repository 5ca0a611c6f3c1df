/** The limits of one key: of its plan, an hour and a day. These numbers are defined only here; docs/sellers/limits.md is tested against them. */
import * as v from 'valibot';
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS } from '#shared/clock.ts';
import type { ReasonOf } from '#shared/problems.ts';
import type { Limit, WindowSeconds } from './limit.ts';
import { PLANS, type PlanName } from './plans.ts';

/** A count is kept this many days after its window: the counts are the history of a key's use. */
export const KEPT_DAYS = 35;

interface KeyLimit {
  /** What is counted, in the words of the docs. */
  readonly counts: string;
  readonly windowSeconds: WindowSeconds;
  readonly byPlan: Readonly<Record<PlanName, number>>;
  /** Of what a registry decides: where it is the sandbox, nobody is real and nothing is paid for, and the numbers are higher. */
  readonly ofRegistry?: true;
}

/** How many times higher they are then. */
export const TIMES_IN_SANDBOX = 100;

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
    ofRegistry: true,
  },
  'refused-links-per-hour': {
    counts:
      'Links and checks refused with buyer_not_registered, user_conflict, external_id_conflict or link_refused',
    windowSeconds: HOUR_SECONDS,
    byPlan: { free: 100, professional: 1000 },
    ofRegistry: true,
  },
  'paid-checks-per-day': {
    counts: 'Links and checks that made paid identity checks',
    windowSeconds: DAY_SECONDS,
    byPlan: { free: 500, professional: 20_000 },
    ofRegistry: true,
  },
  'failed-verifies-per-hour': {
    counts: 'Verifications refused with code_rejected whose code was compared with an outstanding one',
    windowSeconds: HOUR_SECONDS,
    byPlan: { free: 100, professional: 1000 },
  },
} as const satisfies Record<Exclude<ReasonOf<'rate_limit_exceeded'>, 'plan'>, KeyLimit>;

export type KeyLimitName = keyof typeof KEY_LIMITS;

export const KEY_LIMIT_NAMES = Object.keys(KEY_LIMITS) as [KeyLimitName, ...KeyLimitName[]];

export type HourlyLimitName = {
  [Name in KeyLimitName]: (typeof KEY_LIMITS)[Name]['windowSeconds'] extends typeof HOUR_SECONDS
    ? Name
    : never;
}[KeyLimitName];

/**
 * While one of these, or of the limits on paid checks, is used up, every link and check of the key is refused: no response tells then
 * whether a person or a buyer is known.
 */
export const HOURLY_CHECK_LIMITS = ['refused-links-per-hour', 'failed-checks-per-hour'] as const;

export const limitOverridesSchema = v.partial(
  v.object(
    Object.fromEntries(KEY_LIMIT_NAMES.map((name) => [name, v.pipe(v.number(), v.integer(), v.minValue(0))])),
  ),
);

export type LimitOverrides = v.InferOutput<typeof limitOverridesSchema>;

export interface LimitedKey {
  readonly keyId: string;
  readonly plan: PlanName;
  readonly limits: LimitOverrides;
  /** Whether the identity registry of the stage is the sandbox. */
  readonly registryIsSandbox?: boolean;
}

const limitOfPlan = (name: KeyLimitName, { plan, registryIsSandbox }: Omit<LimitedKey, 'limits'>): number => {
  const { byPlan, ofRegistry }: KeyLimit = KEY_LIMITS[name];
  return byPlan[plan] * (ofRegistry && registryIsSandbox ? TIMES_IN_SANDBOX : 1);
};

const OF_KEY = {
  keptSeconds: KEPT_DAYS * DAY_SECONDS,
  problem: 'rate_limit_exceeded',
  whose: 'API key',
} as const;

export const minuteLimit = ({ keyId, plan }: Omit<LimitedKey, 'limits'>): Limit => ({
  ...OF_KEY,
  subject: keyId,
  name: 'minute',
  reason: 'plan',
  limit: PLANS[plan].requestsPerMinute,
  windowSeconds: MINUTE_SECONDS,
});

export const keyLimit = (name: KeyLimitName, key: LimitedKey): Limit => ({
  ...OF_KEY,
  subject: key.keyId,
  keyId: key.keyId,
  name,
  reason: name,
  limit: key.limits[name] ?? limitOfPlan(name, key),
  windowSeconds: KEY_LIMITS[name].windowSeconds,
});
