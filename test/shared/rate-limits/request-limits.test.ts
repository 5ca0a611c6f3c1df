import { ceilingLimits } from '#shared/rate-limits/ceilings.ts';
import { keyLimit, minuteLimit } from '#shared/rate-limits/key-limits.ts';
import type { Limit, LimitState } from '#shared/rate-limits/limit.ts';
import { personLimit, phoneLimit } from '#shared/rate-limits/person-limits.ts';
import {
  consume,
  countRequest,
  exceeded,
  RateLimitExceeded,
  refund,
  requireLeft,
} from '#shared/rate-limits/request-limits.ts';
import { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import { quietLog } from '#test/shared/providers/quiet-log.ts';
import { limitOf } from './limiter-on.ts';

const HASH = new KeyedHash('hash');

const caller = { keyId: 'key_1', plan: 'free', limits: { 'sms-per-hour': 7 } } as const;
const NOW_MS = Date.parse('2026-11-21T08:00:30Z');
const END = Date.parse('2026-11-21T08:01:00Z') / 1000;
const HOUR_END = Date.parse('2026-11-21T09:00:00Z') / 1000;

const lines = quietLog();
beforeEach(() => {
  lines.length = 0;
});

const logged = (name: string) => lines.map((line) => JSON.parse(line)).filter(({ event }) => event === name);

const OPEN: LimitState = { allowed: true, remaining: 41, resetSeconds: 30, endsAt: END };
const USED_UP: LimitState = { allowed: false, remaining: 0, resetSeconds: 1770, endsAt: HOUR_END };
const LAST: LimitState = { allowed: true, remaining: 0, resetSeconds: 30, endsAt: END };

/** A limiter with the state of each limit by its name, open by default, that records its calls. Undefined: its count fails. */
const limiterOf = (states: Readonly<Record<string, LimitState | undefined>> = {}) => {
  const calls: (readonly [string, string, number])[] = [];
  const stateOf = async ({ name }: Limit): Promise<LimitState> => {
    const state = name in states ? states[name] : OPEN;
    if (state === undefined) throw new Error('no response');
    return state;
  };
  const limiter = {
    incrementAndRead: async (
      limit: Limit,
      others: readonly Limit[],
      nowMs: number,
    ): Promise<[LimitState, ...LimitState[]]> => {
      calls.push(['incrementAndRead', limit.name, nowMs]);
      return [await stateOf(limit), ...(await Promise.all(others.map(stateOf)))];
    },
    increment: async (limit: Limit, nowMs: number) => {
      calls.push(['increment', limit.name, nowMs]);
      return stateOf(limit);
    },
    decrement: async (limit: Limit, nowMs: number) => {
      calls.push(['decrement', limit.name, nowMs]);
      await stateOf(limit);
    },
  };
  return { limiter, calls };
};

const PLAN = { name: 'free', limit: 100, windowSeconds: 60, remaining: 41, resetSeconds: 30 };

const SMS_ITEM = { name: 'sms-per-hour', limit: 7, windowSeconds: 3600, remaining: 0, resetSeconds: 1770 };

const counting = (limiter: ReturnType<typeof limiterOf>['limiter']) =>
  countRequest(limiter, caller, {
    nowMs: NOW_MS,
    limitsToRead: ['sms-per-hour', 'failed-verifies-per-hour'],
  });

describe('countRequest', () => {
  it("counts one against the plan's limit and returns the states of the hourly limits by name, in one call", async () => {
    const { limiter, calls } = limiterOf({ 'sms-per-hour': USED_UP });
    expect(await counting(limiter)).toEqual({
      plan: PLAN,
      hourly: new Map([
        ['sms-per-hour', USED_UP],
        ['failed-verifies-per-hour', OPEN],
      ]),
    });
    expect(calls).toEqual([['incrementAndRead', 'minute', NOW_MS]]);
  });

  it('throws rate_limit_exceeded with the item of the plan, until the window ends', async () => {
    const { limiter } = limiterOf({
      minute: { allowed: false, remaining: 0, resetSeconds: 30, endsAt: END },
    });
    const error: unknown = await counting(limiter).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RateLimitExceeded);
    expect(error).toMatchObject({
      code: 'rate_limit_exceeded',
      retryAfterSeconds: 30,
      item: { ...PLAN, remaining: 0 },
      texts: {
        detail:
          'The limit free of this API key (100 in a clock minute) is used up until 2026-11-21T08:01:00Z. Wait for Retry-After seconds.',
      },
    });
  });

  it('returns undefined and logs the key if the counts cannot be reached', async () => {
    const { limiter } = limiterOf({ minute: undefined });
    expect(await counting(limiter)).toBeUndefined();
    expect(logged('rate_limiter_unreachable')).toMatchObject([{ key_id: 'key_1' }]);
  });
});

describe('requireLeft', () => {
  it('throws the problem of the first of the named limits that is used up, with its item', async () => {
    const counted = await counting(limiterOf({ 'sms-per-hour': USED_UP }).limiter);
    const required = () => requireLeft(counted, caller, ['failed-verifies-per-hour', 'sms-per-hour']);
    expect(required).toThrow(
      expect.objectContaining({
        code: 'rate_limit_exceeded',
        retryAfterSeconds: 1770,
        item: expect.objectContaining(SMS_ITEM),
      }),
    );
    expect(() => requireLeft(counted, caller, ['failed-verifies-per-hour'])).not.toThrow();
  });

  it('passes if the request could not be counted', () => {
    expect(() => requireLeft(undefined, caller, ['sms-per-hour'])).not.toThrow();
  });
});

describe('exceeded', () => {
  it('returns the problem of the limit, with the seconds to the end of its window', () => {
    const limit = limitOf({ subject: 'person:sel#hash', limit: 5, problem: 'too_many_attempts' });
    expect(exceeded(limit, USED_UP)).toMatchObject({ code: 'too_many_attempts', retryAfterSeconds: 1770 });
    expect(exceeded(limit, USED_UP)).not.toBeInstanceOf(RateLimitExceeded);
    expect(exceeded(keyLimit('sms-per-hour', caller), USED_UP)).toBeInstanceOf(RateLimitExceeded);
  });

  it.each([
    [keyLimit('sms-per-hour', caller), 'The limit sms-per-hour of this API key (7 in a clock hour)'],
    [
      personLimit('failed-checks', 'sel_1', HASH),
      'The limit failed checks of this person (5 in a clock day)',
    ],
    [phoneLimit('searches', HASH), 'The limit searches of this phone (20 in a clock day)'],
  ])('says which limit is used up and when it ends: %j', (limit, named) => {
    expect(exceeded(limit, USED_UP).texts.detail).toBe(
      `${named} is used up until 2026-11-21T09:00:00Z. Wait for Retry-After seconds.`,
    );
  });

  it('does not tell the limit of a phone over all sellers from one of its own', () => {
    expect(exceeded(phoneLimit('sms', HASH), USED_UP).texts).toEqual({ reason: 'phone_limit' });
  });

  it.each<[Limit, string]>([
    [minuteLimit(caller), 'plan'],
    [keyLimit('sms-per-hour', caller), 'sms-per-hour'],
    [personLimit('begun-checks', 'sel_1', HASH), 'person_checks'],
    [phoneLimit('searches', HASH), 'searches'],
    ...ceilingLimits('sms-per-day', 4, undefined).map((limit): [Limit, string] => [limit, 'not_sent']),
  ])('has the reason of the limit: %j', (limit, reason) => {
    expect(exceeded(limit, USED_UP).texts.reason).toBe(reason);
  });

  it("does not tell a seller's share of a ceiling from the ceiling", () => {
    const limits = ceilingLimits('paid-checks-per-day', 4, { keyId: 'key_1', sellerId: 'sel_1', scopes: [] });
    expect(limits.map((limit) => exceeded(limit, USED_UP).texts.detail)).toEqual([undefined, undefined]);
  });
});

describe('consume', () => {
  const first = limitOf({ subject: 'a', name: 'first', limit: 1, problem: 'resend_too_soon' });
  const second = limitOf({ subject: 'b', name: 'second', limit: 2, problem: 'sms_unavailable' });
  const third = limitOf({ subject: 'c', name: 'third', limit: 3 });

  it('counts one of each limit in their order, and refund takes each back in the window in which it was counted', async () => {
    const { limiter, calls } = limiterOf();
    const counted = await consume(limiter, [first, second], NOW_MS);
    await refund(limiter, counted);
    expect(calls).toEqual([
      ['increment', 'first', NOW_MS],
      ['increment', 'second', NOW_MS],
      ['decrement', 'first', NOW_MS],
      ['decrement', 'second', NOW_MS],
    ]);
  });

  it('throws the problem of the first that is used up, refunds those before it and counts none after it', async () => {
    const { limiter, calls } = limiterOf({ second: USED_UP });
    await expect(consume(limiter, [first, second, third], NOW_MS)).rejects.toMatchObject({
      code: 'sms_unavailable',
      retryAfterSeconds: 1770,
    });
    expect(calls.map(([call, name]) => [call, name])).toEqual([
      ['increment', 'first'],
      ['increment', 'second'],
      ['decrement', 'first'],
    ]);
  });

  it('throws the error of a limit that cannot be counted, and refunds those before it', async () => {
    const { limiter, calls } = limiterOf({ second: undefined });
    await expect(consume(limiter, [first, second], NOW_MS)).rejects.toThrow('no response');
    expect(calls.at(-1)).toEqual(['decrement', 'first', NOW_MS]);
  });

  it('does not fail if a refund cannot be written', async () => {
    const { limiter } = limiterOf();
    const counted = await consume(limiter, [first], NOW_MS);
    await expect(refund(limiterOf({ first: undefined }).limiter, counted)).resolves.toBeUndefined();
  });

  it('logs the key whose limit is used up by this count, and nothing for a refused one or for a person', async () => {
    const sms = keyLimit('sms-per-hour', caller);
    await consume(limiterOf({ 'sms-per-hour': LAST, first: LAST }).limiter, [sms, first], NOW_MS);
    expect(logged('key_limit_used_up')).toMatchObject([{ limit: 'sms-per-hour', key_id: 'key_1' }]);
    await consume(limiterOf({ 'sms-per-hour': USED_UP }).limiter, [sms], NOW_MS).catch(() => {});
    expect(logged('key_limit_used_up')).toHaveLength(1);
  });
});
