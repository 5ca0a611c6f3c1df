import { setTimeout as sleep } from 'node:timers/promises';
import { PLANS } from '#shared/rate-limits/plans.ts';
import { call, expectProblem, expectRetryAfter, type Reply } from './call.ts';
import { itWith, type ScenarioOptions, type Target } from './target.ts';

const LIMIT = PLANS.free.requestsPerMinute;

/** What a minute must still hold for all requests of a test to fall into it. */
const ROOM_SECONDS = 40;

/** Waits, if need be, until the target's own clock has enough of its minute left: at most 21 seconds. */
const freshMinute = async (target: Target): Promise<void> => {
  const reply = await call(target, '/.well-known/jwks.json');
  const second = new Date(reply.headers.get('date') ?? '').getUTCSeconds();
  const left = 60 - second;
  await sleep(left >= ROOM_SECONDS ? 0 : (left + 1) * 1000);
};

/** As many at once as keep a machine with other work to do from taking longer over one than the service waits for its rate limiter. */
const WIDTH = 10;

/** Makes so many calls, a few at a time. */
const repeat = async (times: number, make: () => Promise<Reply>): Promise<Reply[]> => {
  const replies: Reply[] = [];
  let begun = 0;
  const work = async (): Promise<void> => {
    while (begun < times) {
      begun += 1;
      replies.push(await make());
    }
  };
  await Promise.all(Array.from({ length: WIDTH }, work));
  return replies;
};

const list = (target: Target): Promise<Reply> => call(target, '/v1/users', { key: target.keys.free });

const standing = ({ headers }: Reply) => ({
  policy: headers.get('ratelimit-policy'),
  remaining: /^"free";r=(\d+);t=\d+$/.exec(headers.get('ratelimit') ?? '')?.[1],
});

const remainingOf = ({ headers }: Reply): number =>
  Number(/;r=(\d+);/.exec(headers.get('ratelimit') ?? '')?.[1]);

/** Everything that a refusal by the plan's limit says, whoever makes it. */
const expectRefusal = (reply: Reply): void => {
  expectProblem(reply, 'rate_limit_exceeded');
  expectRetryAfter(reply, 60);
  expect(standing(reply)).toEqual({ policy: `"free";q=${LIMIT};w=60`, remaining: '0' });
  expect(reply.headers.get('cache-control')).toBe('no-store');
};

const countsNoRefusal = async (target: Target): Promise<void> => {
  await freshMinute(target);
  const key = target.keys.read_only;
  const before = await call(target, '/v1/users', { key });
  for (let count = 0; count < 5; count += 1) {
    expect((await call(target, '/v1/users', { key, body: {} })).status).toBe(403);
    expect((await call(target, '/v1/users', { key: `${key}x` })).status).toBe(401);
  }
  const after = await call(target, '/v1/users', { key });
  expect(remainingOf(before) - remainingOf(after)).toBe(1);
};

const countsExactly = async (target: Target): Promise<void> => {
  await freshMinute(target);
  const first = await list(target);
  expect(first.status).toBe(200);
  const used = LIMIT - Number(standing(first).remaining);
  expect(standing(first).policy).toBe(`"free";q=${LIMIT};w=60`);

  const rest = await repeat(LIMIT + 20 - used, () => list(target));
  const passed = rest.filter(({ status }) => status === 200);
  const refused = rest.filter(({ status }) => status !== 200);
  expect(passed).toHaveLength(LIMIT - used);
  expect(refused).toHaveLength(20);
  // Each that passed was told another number: nobody was counted twice or not at all.
  expect(new Set(passed.map((reply) => standing(reply).remaining)).size).toBe(passed.length);
  for (const reply of refused) expectRefusal(reply);
  // The limit is judged before the input: what is wrong with it is said only if there is room.
  expectRefusal(await call(target, '/v1/users?page=x', { key: target.keys.free }));
};

const hasTwoWalls = async (target: Target): Promise<void> => {
  // The bucket holds two minutes' worth; what the rate limiter refuses has taken a token too.
  const replies = await repeat(3 * LIMIT, () => list(target));
  const refused = replies.filter(({ status }) => status !== 200);
  const byGateway = refused.filter(({ headers }) => headers.get('retry-after') === '60');
  expect(byGateway.length).toBeGreaterThan(0);
  for (const reply of refused) expectRefusal(reply);
};

/** The plan's limit. It uses up a minute of the free key, and must be the only one to use that key in it. */
export const planLimitScenarios = (options: ScenarioOptions): void => {
  const { target } = options;

  describe('the free plan', () => {
    itWith(options)(
      'does not count what was refused with 403 or 401',
      () => countsNoRefusal(target()),
      90_000,
    );

    itWith(options)(
      `lets exactly ${LIMIT} requests of a clock minute pass, and judges that before the input`,
      () => countsExactly(target()),
      90_000,
    );

    itWith(options, 'usage-plan throttle', 'gateway problem bodies')(
      'has a token bucket before its rate limiter, and a refusal looks the same from both',
      () => hasTwoWalls(target()),
      90_000,
    );
  });
};
