/** The limits of a person and of a phone. */
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS } from '#shared/clock.ts';
import type { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import type { Limit } from './limit.ts';

/** The checks of a person by one seller, links and checks of a user together. */
export const PERSON_LIMITS = {
  /** Checks that begin in a clock minute. */
  'begun-checks': { maximum: 5, windowSeconds: MINUTE_SECONDS },
  /** Checks that end with a verdict against the person, in a day (UTC). */
  'failed-checks': { maximum: 5, windowSeconds: DAY_SECONDS },
} as const;

/** What is counted of a phone over all sellers, in a day (UTC). */
export const PHONE_LIMITS = {
  /** Searches for links that matched nobody. */
  searches: {
    maximum: 20,
    windowSeconds: DAY_SECONDS,
    problem: 'too_many_attempts',
    reason: 'searches',
    whose: 'phone',
  },
  /**
   * Messages of all sellers. The buyer app has only its own limits, so that sellers cannot use up its messages. Like a limit of one seller,
   * it is not named: a seller must not learn whether others sent codes.
   */
  sms: { maximum: 20, windowSeconds: DAY_SECONDS, problem: 'resend_too_soon', reason: 'phone_limit' },
} as const;

/** These counts are no history: they are kept for an hour, since the clocks of machines differ. */
const OF_PEOPLE = { keptSeconds: HOUR_SECONDS } as const;

export const personLimit = (
  name: keyof typeof PERSON_LIMITS,
  sellerId: string,
  person: KeyedHash,
): Limit => ({
  ...OF_PEOPLE,
  subject: `person:${sellerId}#${person.current}`,
  name,
  limit: PERSON_LIMITS[name].maximum,
  windowSeconds: PERSON_LIMITS[name].windowSeconds,
  problem: 'too_many_attempts',
  reason: 'person_checks',
  whose: 'person',
});

export const phoneSubject = (phoneHash: string): string => `phone:${phoneHash}`;

export const phoneLimit = (name: keyof typeof PHONE_LIMITS, phone: KeyedHash): Limit => {
  const { maximum, ...rules } = PHONE_LIMITS[name];
  return { ...OF_PEOPLE, subject: phoneSubject(phone.current), name, limit: maximum, ...rules };
};
