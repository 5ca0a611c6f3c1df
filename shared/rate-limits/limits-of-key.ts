/** The limits of a key as the rate limiter counts them. */
import type { Caller } from '#shared/http/caller.ts';
import { KEY_LIMITS, type KeyLimitName, keyLimitOf, PLANS, WINDOW_SECONDS } from './plans.ts';
import type { Limit } from './rate-limiter.ts';

/** The plan's limit of requests per clock minute. */
export const minuteLimit = ({ keyId, plan }: Pick<Caller, 'keyId' | 'plan'>): Limit => ({
  subject: keyId,
  name: 'minute',
  limit: PLANS[plan].requestsPerMinute,
  windowSeconds: WINDOW_SECONDS,
});

/** An hourly or daily limit: the key's own number, or its plan's. */
export const keyLimit = (
  name: KeyLimitName,
  { keyId, plan, limits }: Pick<Caller, 'keyId' | 'plan' | 'limits'>,
): Limit => ({
  subject: keyId,
  name,
  limit: keyLimitOf(name, plan, limits),
  windowSeconds: KEY_LIMITS[name].windowSeconds,
});
