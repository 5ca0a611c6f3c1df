/** The limits that are not those of one key: of a person, of a phone, of a stage and of a seller's share of it. */

import { isBuyerApp, type Scope } from '#shared/scopes.ts';
import type { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import { DAY_SECONDS, HOUR_SECONDS, type Limit, WINDOW_SECONDS } from './plans.ts';

/** The checks of a person by one seller, links and checks of a user together. */
export const PERSON_LIMITS = {
  /** Checks that begin in a clock minute. */
  'begun-checks': { maximum: 5, windowSeconds: WINDOW_SECONDS },
  /** Checks that end with a verdict against the person, in a day (UTC). */
  'failed-checks': { maximum: 5, windowSeconds: DAY_SECONDS },
} as const;

/** What is counted of a phone over all sellers, in a day (UTC). */
export const PHONE_LIMITS = {
  /** Searches for links that matched nobody. */
  searches: { maximum: 20, windowSeconds: DAY_SECONDS, problem: 'too_many_attempts' },
  /** Messages of all sellers. The buyer app has only its own limits, so that sellers cannot use up its messages. */
  sms: { maximum: 20, windowSeconds: DAY_SECONDS, problem: 'resend_too_soon' },
} as const;

/**
 * These counts are no history: they are kept for an hour, since the clocks of machines differ. A request whose count cannot be written is
 * refused with `service_unavailable`.
 */
const NOT_OF_A_KEY = { keptSeconds: HOUR_SECONDS, passesUncounted: false } as const;

export const personLimit = (
  name: keyof typeof PERSON_LIMITS,
  sellerId: string,
  person: KeyedHash,
): Limit => ({
  subject: `person:${sellerId}#${person.current}`,
  name,
  limit: PERSON_LIMITS[name].maximum,
  windowSeconds: PERSON_LIMITS[name].windowSeconds,
  problem: 'too_many_attempts',
  ...NOT_OF_A_KEY,
});

export const phoneSubject = (phoneHash: string): string => `phone:${phoneHash}`;

export const phoneLimit = (name: keyof typeof PHONE_LIMITS, phone: KeyedHash): Limit => ({
  subject: phoneSubject(phone.current),
  name,
  limit: PHONE_LIMITS[name].maximum,
  windowSeconds: PHONE_LIMITS[name].windowSeconds,
  problem: PHONE_LIMITS[name].problem,
  ...NOT_OF_A_KEY,
});

/** The optional daily ceilings (UTC) of a stage, over all keys. */
export type CeilingName = 'paid-checks-per-day' | 'sms-per-day';

const CEILINGS = {
  'paid-checks-per-day': { problem: 'verification_unavailable', ofSellers: 1 },
  /** The last fifth is for the buyer app alone. */
  'sms-per-day': { problem: 'sms_unavailable', ofSellers: 0.8 },
} as const;

/** Undefined where no key is required. */
type CountedKey =
  | { readonly keyId: string; readonly sellerId: string; readonly scopes: readonly Scope[] }
  | undefined;

/**
 * The limits that a ceiling sets a key: its seller's share, which is a quarter over all its keys (at least 1), and the ceiling. None if the
 * stage has no ceiling. `callsPerDay`: the ceiling.
 */
export const ceilingLimits = (
  name: CeilingName,
  callsPerDay: number | undefined,
  key: CountedKey,
): Limit[] => {
  if (callsPerDay === undefined) return [];
  const { problem, ofSellers } = CEILINGS[name];
  const daily = { ...NOT_OF_A_KEY, windowSeconds: DAY_SECONDS, problem };
  const ofStage = (limit: number): Limit => ({
    ...daily,
    subject: `stage:${name}`,
    name: 'count',
    limit,
    ceiling: { name, callsPerDay },
  });
  if (key === undefined || isBuyerApp(key)) return [ofStage(callsPerDay)];
  const share = Math.max(1, Math.floor(callsPerDay / 4));
  return [
    { ...daily, subject: key.sellerId, name, limit: share, keyId: key.keyId },
    ofStage(Math.floor(callsPerDay * ofSellers)),
  ];
};
