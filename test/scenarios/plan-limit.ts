import { PLANS } from '#shared/rate-limits/plans.ts';
import { call, expectProblem, expectRetryAfter, type Reply } from './call.ts';
import { itWith, type ScenarioOptions, type Target } from './target.ts';

const LIMIT = PLANS.free.requestsPerMinute;
const POLICY = `"free";q=${LIMIT};w=60`;
const REFUSALS = 5;

/** Concurrent requests. More of them would slow a busy machine so much that the service stops waiting for its rate limiter. */
const CONCURRENCY = 10;

/** A refusal before the function: it names a whole minute, not the rest of the window. */
const isByGateway = ({ status, headers }: Reply) => status === 429 && headers.get('retry-after') === '60';

/** Makes requests, a few at a time, until the gateway has refused some. */
const untilRefused = async (target: Target): Promise<Reply[]> => {
  const replies: Reply[] = [];
  let begun = 0;
  const work = async (): Promise<void> => {
    // The bucket holds the requests of two minutes. A request that the rate limiter refuses consumes a token too.
    while (begun < 3 * LIMIT && replies.filter(isByGateway).length < REFUSALS) {
      begun += 1;
      replies.push(await call(target, '/v1/users', { key: target.keys.free }));
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return replies;
};

/** Checks everything that a refusal by the plan's limit says, from the gateway or from the function. */
const expectRefusal = (reply: Reply): void => {
  expectProblem(reply, 'rate_limit_exceeded');
  expectRetryAfter(reply, 60);
  expect(reply.headers.get('ratelimit-policy')).toBe(POLICY);
  expect(reply.headers.get('ratelimit')).toMatch(/^"free";r=0;t=\d+$/);
  expect(reply.headers.get('cache-control')).toBe('no-store');
};

/** The per-minute limit of a plan. It comes last: it leaves nothing of the free key's limit. */
export const planLimitScenarios = (options: ScenarioOptions): void => {
  const { target } = options;

  describe('the free plan', () => {
    itWith(
      options,
      'usage-plan throttle',
      'gateway problem bodies',
    )('has a token bucket before its rate limiter, and both refuse with the same response', async () => {
      const refused = (await untilRefused(target())).filter(({ status }) => status !== 200);
      expect(refused.filter(isByGateway).length).toBeGreaterThanOrEqual(REFUSALS);
      for (const reply of refused) expectRefusal(reply);
    });
  });
};
