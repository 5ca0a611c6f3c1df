import {
  type KeyLimitName,
  keyLimit,
  type LimitOverrides,
  PLAN_NAMES,
  PLANS,
  type PlanName,
  planItem,
  rateLimitHeaders,
  usagePlanThrottle,
} from '#shared/rate-limits/plans.ts';

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
  const limitOf = (name: KeyLimitName, plan: PlanName, limits: LimitOverrides = {}) =>
    keyLimit(name, { keyId: 'key_1', plan, limits }).limit;

  it('prefers the override of a key', () => {
    expect(limitOf('sms-per-hour', 'free', { 'sms-per-hour': 0 })).toBe(0);
    expect(limitOf('paid-checks-per-day', 'free', { 'sms-per-hour': 0 })).toBe(500);
  });
});

describe('rateLimitHeaders', () => {
  it('lists the quota and the state of each limit', () => {
    const hourly = {
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
