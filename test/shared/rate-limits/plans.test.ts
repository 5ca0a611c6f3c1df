import {
  PLAN_NAMES,
  PLANS,
  rateLimit,
  rateLimitPolicy,
  usagePlanThrottle,
  WINDOW_SECONDS,
} from '#shared/rate-limits/plans.ts';

/** Runs a token bucket, as API Gateway's, over requests at these times; gives how many it refused. */
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

describe('PLANS', () => {
  it('are the two of the contract: 100 and 1000 requests in a clock minute', () => {
    expect(PLAN_NAMES).toEqual(['free', 'professional']);
    expect(PLANS.free.requestsPerMinute).toBe(100);
    expect(PLANS.professional.requestsPerMinute).toBe(1000);
    expect(WINDOW_SECONDS).toBe(60);
  });
});

describe('usagePlanThrottle', () => {
  it.each([
    ['free', 100 / 60, 200],
    ['professional', 1000 / 60, 2000],
  ] as const)('of %s refills n in a minute and holds 2n', (plan, rate, size) => {
    expect(usagePlanThrottle(plan)).toEqual({ rateLimit: rate, burstLimit: size });
  });

  it.each(PLAN_NAMES)(
    'never refuses a caller of %s who keeps to n a clock minute, though it comes in bursts',
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

  it.each(PLAN_NAMES)(
    'holds no more than it must for that: one request less, and an honest caller of %s is refused',
    (plan) => {
      const { rateLimit: rate, burstLimit } = usagePlanThrottle(plan);
      const burst = Array<number>(2 * PLANS[plan].requestsPerMinute).fill(60);
      expect(refusedBy({ rateLimit: rate, burstLimit: burstLimit - 1 }, burst)).toBe(1);
    },
  );
});

describe('the RateLimit headers', () => {
  it('say the policy of the plan, and where the caller stands', () => {
    expect(rateLimitPolicy('free')).toBe('"free";q=100;w=60');
    expect(rateLimitPolicy('professional')).toBe('"professional";q=1000;w=60');
    expect(rateLimit('free', 57, 23)).toBe('"free";r=57;t=23');
  });
});
