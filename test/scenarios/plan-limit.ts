import { PLANS } from '#shared/rate-limits/plans.ts';
import { call, expectProblem, expectRetryAfter, type Reply } from './call.ts';
import { itWith, type ScenarioOptions, type Target } from './target.ts';

const LIMIT = PLANS.free.requestsPerMinute;
const POLICY = `"free";q=${LIMIT};w=60`;
const REFUSALS = 20;

/** Concurrent requests. More of them would slow a busy machine so much that the service stops waiting for its rate limiter. */
const CONCURRENCY = 10;

/** Makes calls, a few at a time, until `isEnough` returns true for the replies or `most` were made. */
const callUntil = async (
  make: () => Promise<Reply>,
  most: number,
  isEnough: (replies: readonly Reply[]) => boolean = () => false,
): Promise<Reply[]> => {
  const replies: Reply[] = [];
  let begun = 0;
  const work = async (): Promise<void> => {
    while (begun < most && !isEnough(replies)) {
      begun += 1;
      replies.push(await make());
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return replies;
};

const list = (target: Target): Promise<Reply> => call(target, '/v1/users', { key: target.keys.free });

/** The values of a RateLimit header: what is left of the window, and the seconds until the next one. */
const rateLimitOf = ({ headers }: Reply): { remaining: number; resetSeconds: number } => {
  const match = /^"\w+";r=(\d+);t=(\d+)/.exec(headers.get('ratelimit') ?? '');
  return { remaining: Number(match?.[1]), resetSeconds: Number(match?.[2]) };
};

/** The clock minute in which a reply was counted, by the target's own clock: the one that ends when its window resets. */
const minuteOf = (reply: Reply): number => {
  const seconds = Date.parse(reply.headers.get('date') ?? '') / 1000;
  return Math.round((seconds + rateLimitOf(reply).resetSeconds) / 60);
};

/** Checks everything that a refusal by the plan's limit says, from the gateway or from the function. */
const expectRefusal = (reply: Reply): void => {
  expectProblem(reply, 'rate_limit_exceeded');
  expectRetryAfter(reply, 60);
  expect(reply.headers.get('ratelimit-policy')).toBe(POLICY);
  expect(rateLimitOf(reply).remaining).toBe(0);
  expect(reply.headers.get('cache-control')).toBe('no-store');
};

const countsNoRefusedRequest = async (target: Target): Promise<void> => {
  const key = target.keys.read_only;
  const { requestsPerMinute } = PLANS.professional;
  const before = await call(target, '/v1/users', { key });
  for (let count = 0; count < 5; count += 1) {
    expect((await call(target, '/v1/users', { key, body: {} })).status).toBe(403);
    expect((await call(target, '/v1/users', { key: `${key}x` })).status).toBe(401);
  }
  const after = await call(target, '/v1/users', { key });
  const remainingBefore =
    minuteOf(after) === minuteOf(before) ? rateLimitOf(before).remaining : requestsPerMinute;
  expect(rateLimitOf(after).remaining).toBe(remainingBefore - 1);
};

const hasTwoLimiters = async (target: Target): Promise<void> => {
  // The bucket holds the requests of two minutes. A request that the rate limiter refuses consumes a token too.
  const isByGateway = ({ status, headers }: Reply) => status === 429 && headers.get('retry-after') === '60';
  const replies = await callUntil(
    () => list(target),
    3 * LIMIT,
    (all) => all.filter(isByGateway).length >= REFUSALS,
  );
  const refused = replies.filter(({ status }) => status !== 200);
  expect(refused.filter(isByGateway).length).toBeGreaterThanOrEqual(REFUSALS);
  for (const reply of refused) expectRefusal(reply);
};

/** The per-minute limit of a plan. It comes last: it leaves nothing of the free key's limit. */
export const planLimitScenarios = (options: ScenarioOptions): void => {
  const { target } = options;

  describe('the free plan', () => {
    itWith(options)('does not count requests that were refused with 403 or 401', () =>
      countsNoRefusedRequest(target()),
    );

    itWith(
      options,
      'usage-plan throttle',
      'gateway problem bodies',
    )('has a token bucket before its rate limiter, and both refuse with the same response', () =>
      hasTwoLimiters(target()),
    );
  });
};
