import { redirectLog } from '#shared/log.ts';
import type { Limit, LimitState } from '#shared/rate-limits/plans.ts';
import type { RateLimiter } from '#shared/rate-limits/rate-limiter.ts';
import { consumeAll, countRequest, keyLimits, type Refund } from '#shared/rate-limits/request-limits.ts';
import { fakeClock } from '#test/fakes/clock.ts';

const caller = { keyId: 'key_1', plan: 'free', limits: { 'sms-per-hour': 7 } } as const;
const clock = fakeClock('2026-11-21T08:00:30Z');

const lines: string[] = [];
let restoreLog: () => void;
beforeAll(() => {
  restoreLog = redirectLog((line) => lines.push(line));
});
afterAll(() => restoreLog());
beforeEach(() => {
  lines.length = 0;
});

const unreachable = () =>
  lines.map((line) => JSON.parse(line)).filter(({ event }) => event === 'rate_limiter_unreachable');

const OPEN: LimitState = { allowed: true, remaining: 41, resetSeconds: 30 };
const USED_UP: LimitState = { allowed: false, remaining: 0, resetSeconds: 1770 };

/** A limiter that returns these states, or fails, and records its calls. */
const limiterOf = (
  states: { readonly plan?: LimitState; readonly hourly?: LimitState },
  failing: readonly string[] = [],
) => {
  const { plan = OPEN, hourly = OPEN } = states;
  const calls: (readonly [string, ...(string | number)[]])[] = [];
  const called = <T>(name: string, limit: Limit, nowMs: number, result: T): Promise<T> => {
    calls.push([name, limit.name, limit.limit, nowMs]);
    return failing.includes(name) ? Promise.reject(new Error('no response')) : Promise.resolve(result);
  };
  const limiter: RateLimiter = {
    incrementAndRead: (limit, others, nowMs) =>
      called('incrementAndRead', limit, nowMs, [plan, ...others.map(() => hourly)]),
    increment: (limit, nowMs) => called('increment', limit, nowMs, hourly),
    read: (limits, nowMs) =>
      called(
        'read',
        limits[0] as Limit,
        nowMs,
        limits.map(() => hourly),
      ),
    decrement: (limit, nowMs) => called('decrement', limit, nowMs, undefined),
  };
  return { limiter, calls };
};

/** A counted request and the limits of its key. */
const requestWith = ({ limiter }: ReturnType<typeof limiterOf>) => {
  const planLimit = countRequest(limiter, caller, { nowMs: clock(), limitsToRead: ['sms-per-hour'] });
  return { ...planLimit, limits: keyLimits({ rateLimiter: limiter, clock }, { caller, ...planLimit }) };
};

const EXCEEDED = { code: 'rate_limit_exceeded', retryAfterSeconds: 1770 };
const EXCEEDED_ITEM = {
  name: 'sms-per-hour',
  limit: 7,
  windowSeconds: 3600,
  remaining: 0,
  resetSeconds: 1770,
};

describe('countRequest', () => {
  it("counts one against the plan's limit and returns the states that it read by name", async () => {
    const bench = limiterOf({ hourly: USED_UP });
    const { withinPlan, headerItem } = requestWith(bench);
    expect(headerItem()).toBeUndefined();
    const plan = { name: 'free', limit: 100, windowSeconds: 60, remaining: 41, resetSeconds: 30 };
    expect(await withinPlan).toEqual({ plan, hourly: new Map([['sms-per-hour', USED_UP]]) });
    expect(bench.calls).toEqual([['incrementAndRead', 'minute', 100, clock()]]);
    expect(headerItem()).toEqual(plan);
  });

  it('rejects with rate_limit_exceeded until the window ends, and has a header item too', async () => {
    const { withinPlan, headerItem } = requestWith(
      limiterOf({ plan: { allowed: false, remaining: 0, resetSeconds: 30 } }),
    );
    await expect(withinPlan).rejects.toMatchObject({ code: 'rate_limit_exceeded', retryAfterSeconds: 30 });
    expect(headerItem()).toMatchObject({ remaining: 0, resetSeconds: 30 });
  });

  it('resolves with undefined and logs the key if the store cannot be reached', async () => {
    const { withinPlan, headerItem } = requestWith(limiterOf({}, ['incrementAndRead']));
    expect(await withinPlan).toBeUndefined();
    expect(headerItem()).toBeUndefined();
    expect(unreachable()).toMatchObject([{ key_id: 'key_1' }]);
  });
});

describe('check', () => {
  it('uses the state that was read with the count, and makes no call', async () => {
    const bench = limiterOf({ hourly: USED_UP });
    const { limits } = requestWith(bench);
    await expect(limits.check('sms-per-hour')).rejects.toMatchObject({ ...EXCEEDED, item: EXCEEDED_ITEM });
    await expect(requestWith(limiterOf({})).limits.check('sms-per-hour')).resolves.toBeUndefined();
    expect(bench.calls.map(([name]) => name)).toEqual(['incrementAndRead']);
  });

  it("throws the plan's refusal first", async () => {
    const { limits } = requestWith(limiterOf({ plan: { ...USED_UP, resetSeconds: 30 }, hourly: USED_UP }));
    await expect(limits.check('sms-per-hour')).rejects.toMatchObject({ retryAfterSeconds: 30 });
  });

  it('passes if the store could not be reached', async () => {
    const { limits } = requestWith(limiterOf({ hourly: USED_UP }, ['incrementAndRead']));
    await expect(limits.check('sms-per-hour')).resolves.toBeUndefined();
  });
});

describe('recheck', () => {
  it('reads the limit again and throws if it is used up by now', async () => {
    const bench = limiterOf({ hourly: USED_UP });
    const { limits } = requestWith(bench);
    await expect(limits.recheck('sms-per-hour')).rejects.toMatchObject(EXCEEDED);
    expect(bench.calls.at(-1)).toEqual(['read', 'sms-per-hour', 7, clock()]);
    await expect(requestWith(limiterOf({})).limits.recheck('sms-per-hour')).resolves.toBeUndefined();
  });
});

describe('consume', () => {
  it('counts one, and refunds it in the window in which it was counted', async () => {
    const bench = limiterOf({});
    const { limits } = requestWith(bench);
    const countedAtMs = clock();
    const refund = await limits.consume('sms-per-hour');
    clock.advance(3600);
    await refund();
    expect(bench.calls.slice(1)).toEqual([
      ['increment', 'sms-per-hour', 7, countedAtMs],
      ['decrement', 'sms-per-hour', 7, countedAtMs],
    ]);
  });

  it('throws rate_limit_exceeded with the item of the limit if it is used up', async () => {
    const bench = limiterOf({ hourly: USED_UP });
    await expect(requestWith(bench).limits.consume('sms-per-hour')).rejects.toMatchObject({
      ...EXCEEDED,
      item: EXCEEDED_ITEM,
    });
  });

  it('counts nothing if the plan refuses the request', async () => {
    const bench = limiterOf({ plan: USED_UP });
    await expect(requestWith(bench).limits.consume('sms-per-hour')).rejects.toMatchObject(EXCEEDED);
    expect(bench.calls.map(([name]) => name)).toEqual(['incrementAndRead']);
  });

  it('makes no call if the store could not be reached for the plan, and has nothing to refund', async () => {
    const bench = limiterOf({}, ['incrementAndRead']);
    const refund = await requestWith(bench).limits.consume('sms-per-hour');
    await refund();
    expect(bench.calls.map(([name]) => name)).toEqual(['incrementAndRead']);
  });

  it('calls a store that fails once in a request, passes, refunds nothing and logs it once', async () => {
    const bench = limiterOf({}, ['increment', 'read']);
    const { limits } = requestWith(bench);
    const counted = [await limits.consume('sms-per-hour'), await limits.consume('failed-checks-per-hour')];
    await limits.recheck('sms-per-hour');
    for (const refund of counted) await refund();
    expect(bench.calls.map(([name]) => name)).toEqual(['incrementAndRead', 'increment']);
    expect(unreachable()).toHaveLength(1);
  });

  it('does not fail if the refund cannot be written', async () => {
    const refund = await requestWith(limiterOf({}, ['decrement'])).limits.consume('sms-per-hour');
    await expect(refund()).resolves.toBeUndefined();
    expect(unreachable()).toHaveLength(1);
  });
});

describe('a caller without a key', () => {
  it('has no limits, and makes no call', async () => {
    const bench = limiterOf({ hourly: USED_UP });
    const withinPlan = Promise.resolve(undefined);
    const limits = keyLimits({ rateLimiter: bench.limiter, clock }, { caller: undefined, withinPlan });
    await limits.check('sms-per-hour');
    await limits.recheck('sms-per-hour');
    await (await limits.consume('sms-per-hour'))();
    expect(bench.calls).toEqual([]);
  });
});

/** Counts that record what happens, by name; one of them may throw. */
const counts = (throwing?: string) => {
  const events: string[] = [];
  const count = (name: string) => async (): Promise<Refund> => {
    if (name === throwing) throw new Error(`${name} is used up`);
    events.push(`count ${name}`);
    return async () => events.push(`refund ${name}`);
  };
  return { events, count };
};

describe('consumeAll', () => {
  it('counts one after the other, in the given order', async () => {
    const { events, count } = counts();
    const first = async () => {
      await new Promise(setImmediate);
      return count('a')();
    };
    await consumeAll(first, count('b'));
    expect(events).toEqual(['count a', 'count b']);
  });

  it('refunds all of them together', async () => {
    const { events, count } = counts();
    const refundAll = await consumeAll(count('a'), count('b'));
    await refundAll();
    expect(events).toEqual(['count a', 'count b', 'refund a', 'refund b']);
  });

  it('refunds those before one that throws, throws its error and counts none after it', async () => {
    const { events, count } = counts('c');
    await expect(consumeAll(count('a'), count('b'), count('c'), count('d'))).rejects.toThrow('c is used up');
    expect(events).toEqual(['count a', 'count b', 'refund a', 'refund b']);
  });
});
