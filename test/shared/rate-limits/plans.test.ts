import { PLAN_NAMES, PLANS, usagePlanThrottle } from '#shared/rate-limits/plans.ts';

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
