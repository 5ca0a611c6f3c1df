import { PLANS } from '#shared/rate-limits/plans.ts';
import { call, expectProblem, expectRetryAfter, type Reply } from './call.ts';
import { itWith, type ScenarioOptions, type Target } from './target.ts';

const LIMIT = PLANS.free.requestsPerMinute;
const POLICY = `"free";q=${LIMIT};w=60`;
const REFUSALS = 5;

/** Concurrent requests. More of them would slow a busy machine so much that the service stops waiting for its rate limiter. */
const CONCURRENCY = 10;

const isRefused = ({ status }: Reply) => status === 429;

/** Makes requests, a few at a time, until some were refused. */
const untilRefused = async (target: Target): Promise<Reply[]> => {
  const replies: Reply[] = [];
  let begun = 0;
  const work = async (): Promise<void> => {
    // They may lie in two minutes.
    while (begun < 3 * LIMIT && replies.filter(isRefused).length < REFUSALS) {
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
    itWith(options, 'gateway problem bodies')(
      'refuses what is over its limit, with the same response whether the rate limiter or the gateway refuses',
      async () => {
        const refused = (await untilRefused(target())).filter(({ status }) => status !== 200);
        expect(refused.length).toBeGreaterThanOrEqual(REFUSALS);
        for (const reply of refused) expectRefusal(reply);
      },
    );
  });
};
