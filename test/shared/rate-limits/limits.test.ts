import fc from 'fast-check';
import { planItem, type RateLimitItem, rateLimitHeaders } from '#shared/rate-limits/headers.ts';
import {
  KEY_LIMIT_NAMES,
  type KeyLimitName,
  keyLimit,
  type LimitOverrides,
} from '#shared/rate-limits/key-limits.ts';
import { secondsToNextWindow, windowOf } from '#shared/rate-limits/limit.ts';
import { personLimit, phoneLimit } from '#shared/rate-limits/person-limits.ts';
import { PLAN_NAMES, PLANS, type PlanName, usagePlanThrottle } from '#shared/rate-limits/plans.ts';
import { KeyedHash } from '#shared/secrets/keyed-hashes.ts';

const instant = fc.integer({ min: 0, max: 4_000_000_000_000 });
const windowSeconds = fc.constantFrom(1, 60, 3600);

describe('windowOf', () => {
  it('changes with the clock minute in UTC', () => {
    expect(windowOf(Date.parse('2026-11-21T08:00:59.999Z'), 60)).toBe(
      windowOf(Date.parse('2026-11-21T08:00:00.000Z'), 60),
    );
    expect(windowOf(Date.parse('2026-11-21T08:01:00.000Z'), 60)).toBe(
      windowOf(Date.parse('2026-11-21T08:00:00.000Z'), 60) + 1,
    );
  });
});

describe('secondsToNextWindow', () => {
  it('is the least number of whole seconds that leads into the next window', () => {
    fc.assert(
      fc.property(instant, windowSeconds, (nowMs, seconds) => {
        const wait = secondsToNextWindow(nowMs, seconds);
        expect(wait).toBeGreaterThanOrEqual(1);
        expect(windowOf(nowMs + wait * 1000, seconds)).toBe(windowOf(nowMs, seconds) + 1);
        expect(windowOf(nowMs + (wait - 1) * 1000, seconds)).toBe(windowOf(nowMs, seconds));
      }),
    );
  });
});

describe('rateLimitHeaders', () => {
  it('lists the quota and the state of each limit', () => {
    const hourly: RateLimitItem = {
      name: 'sms-per-hour',
      limit: 100,
      windowSeconds: 3600,
      remaining: 0,
      resetSeconds: 1800,
    };
    expect(rateLimitHeaders([planItem('free', 57, 23), hourly])).toEqual({
      'RateLimit-Policy': '"free";q=100;w=60, "sms-per-hour";q=100;w=3600',
      RateLimit: '"free";r=57;t=23, "sms-per-hour";r=0;t=1800',
    });
  });

  it('is absent without a limit', () => {
    expect(rateLimitHeaders([])).toEqual({});
  });
});

describe('the limits of people', () => {
  const person = new KeyedHash('person-new', ['person-old']);
  const phone = new KeyedHash('phone-new', ['phone-old']);

  it('are counted under the current hash, for an hour after their window, and must be counted', () => {
    const ofPeople = { keptSeconds: 3600, limit: 5 };
    const ofPerson = {
      ...ofPeople,
      subject: 'person:sel_1#person-new',
      problem: 'too_many_attempts',
      reason: 'person_checks',
      whose: 'person',
    };
    expect([
      personLimit('begun-checks', 'sel_1', person),
      personLimit('failed-checks', 'sel_1', person),
    ]).toEqual([
      { ...ofPerson, name: 'begun-checks', windowSeconds: 60 },
      { ...ofPerson, name: 'failed-checks', windowSeconds: 86_400 },
    ]);
    const ofPhone = {
      ...ofPeople,
      subject: 'phone:phone-new',
      limit: 20,
      windowSeconds: 86_400,
    };
    expect([phoneLimit('searches', phone), phoneLimit('sms', phone)]).toEqual([
      { ...ofPhone, name: 'searches', problem: 'too_many_attempts', reason: 'searches', whose: 'phone' },
      { ...ofPhone, name: 'sms', problem: 'resend_too_soon', reason: 'phone_limit' },
    ]);
  });
});

/** Runs a token bucket like API Gateway's over requests at these times (seconds). Returns how many it refused. */
const refusedBy = (
  { rateLimit: rate, burstLimit: size }: { rateLimit: number; burstLimit: number },
  times: readonly number[],
) => {
  let [tokens, last, refused] = [size, times[0] ?? 0, 0];
  for (const time of times) {
    tokens = Math.min(size, tokens + (time - last) * rate);
    last = time;
    const taken = Number(tokens >= 1);
    tokens -= taken;
    refused += 1 - taken;
  }
  return refused;
};

describe('usagePlanThrottle', () => {
  it.each(PLAN_NAMES)(
    'never refuses a caller of %s who keeps to n per clock minute, in bursts too',
    (plan) => {
      const n = PLANS[plan].requestsPerMinute;
      // n at the end of the first minute, n at the start of the second, and so on for an hour: 2n at once, every two minutes.
      const bursts = Array.from({ length: 30 }, (_, index) => (2 * index + 1) * 60);
      expect(
        refusedBy(
          usagePlanThrottle(plan),
          bursts.flatMap((time) => Array<number>(2 * n).fill(time)),
        ),
      ).toBe(0);
    },
  );

  it.each(PLAN_NAMES)('of %s is the smallest bucket with that property', (plan) => {
    const { rateLimit: rate, burstLimit } = usagePlanThrottle(plan);
    const burst = Array<number>(2 * PLANS[plan].requestsPerMinute).fill(60);
    expect(refusedBy({ rateLimit: rate, burstLimit: burstLimit - 1 }, burst)).toBe(1);
  });
});

describe('keyLimit', () => {
  it('is a hundred times that of the plan where the registry is the sandbox, if a registry decides what it counts', () => {
    const key = { keyId: 'key_1', plan: 'free', limits: {} } as const;
    const times = KEY_LIMIT_NAMES.map((name) => [
      name,
      keyLimit(name, { ...key, registryIsSandbox: true }).limit / keyLimit(name, key).limit,
    ]);
    expect(Object.fromEntries(times)).toEqual({
      'sms-per-hour': 1,
      'failed-checks-per-hour': 100,
      'refused-links-per-hour': 100,
      'paid-checks-per-day': 100,
      'failed-verifies-per-hour': 1,
    });
  });

  it('is the override of a key as it is, also where the registry is the sandbox', () => {
    const limits = { 'failed-checks-per-hour': 3 };
    const key = { keyId: 'key_1', plan: 'free', limits, registryIsSandbox: true } as const;
    expect(keyLimit('failed-checks-per-hour', key).limit).toBe(3);
  });

  const limitOf = (name: KeyLimitName, plan: PlanName, limits: LimitOverrides = {}) =>
    keyLimit(name, { keyId: 'key_1', plan, limits }).limit;

  it('prefers the override of a key', () => {
    expect(limitOf('sms-per-hour', 'free', { 'sms-per-hour': 0 })).toBe(0);
    expect(limitOf('paid-checks-per-day', 'free', { 'sms-per-hour': 0 })).toBe(500);
  });
});
