import { mock } from 'node:test';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { KEY_LIMIT_NAMES, keyLimit, minuteLimit } from '#shared/rate-limits/key-limits.ts';
import type { LimitState } from '#shared/rate-limits/limit.ts';
import { limitKey, type RateLimiter, rateLimiterFromEnv } from '#shared/rate-limits/rate-limiter.ts';
import { limitSortKey, limitsPartition } from '#shared/table/keys.ts';
import { hangingLimits } from '#test/table/hanging-limits.ts';
import { losingResponses } from '#test/table/lost-responses.ts';
import { useTable } from '#test/table/use-table.ts';
import { limiterOn, limitOf } from './limiter-on.ts';

const table = useTable();
let limiter: RateLimiter;

beforeAll(() => {
  limiter = limiterOn(table);
});

const START_MS = Date.parse('2026-11-21T08:00:00Z');
/** The end of the clock minute that begins then. */
const END = START_MS / 1000 + 60;

/** Concurrent requests of one key. */
const requests = (keyId: string, times: number, limit: number, nowMs = START_MS) =>
  Promise.all(
    Array.from({ length: times }, () => limiter.increment(limitOf({ subject: keyId, limit }), nowMs)),
  );

const allowedOf = (states: readonly LimitState[]): number => states.filter(({ allowed }) => allowed).length;

/** The item of a subject in the clock hour of the tests. */
const itemOf = async (subject: string) => {
  const Key = { pk: limitsPartition(subject), sk: limitSortKey('HOUR', START_MS / 3_600_000) };
  return (await table.client.send(new GetCommand({ TableName: table.name, Key }))).Item;
};

describe('increment', () => {
  it('allows exactly n of 3n concurrent requests and returns a different remaining count to each', async () => {
    const states = await requests('crowd', 90, 30);
    expect(allowedOf(states)).toBe(30);
    const remainders = states.filter(({ allowed }) => allowed).map(({ remaining }) => remaining);
    expect(remainders.sort((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, left) => left));
    expect(states.filter(({ allowed }) => !allowed).map(({ remaining }) => remaining)).toEqual(
      Array(60).fill(0),
    );
  });

  it('keeps a count for as long as its limit says after the end of its hour', async () => {
    await requests('forgotten', 1, 5, START_MS + 500);
    expect(await itemOf('forgotten')).toEqual({
      pk: 'LIMIT#forgotten',
      sk: `HOUR#${START_MS / 3_600_000}`,
      minute_0: 1,
      ttl: START_MS / 1000 + 3600 + 7200,
    });
  });

  it('keeps a count of a day until its limit says after midnight UTC', async () => {
    const daily = limitOf({ subject: 'daily', name: 'searches', limit: 2, windowSeconds: 86_400 });
    await limiter.increment(daily, Date.parse('2026-11-21T23:59:59Z'));
    const Key = limitKey(daily, Date.parse('2026-11-21T00:00:00Z'));
    const { Item } = await table.client.send(new GetCommand({ TableName: table.name, Key }));
    expect(Item).toEqual({ ...Key, searches: 1, ttl: Date.parse('2026-11-22T02:00:00Z') / 1000 });
    expect(await limiter.increment(daily, Date.parse('2026-11-22T00:00:00Z'))).toMatchObject({
      remaining: 1,
    });
  });

  it('keeps all counts of a busy key in an hour within one write unit of 1 KB', async () => {
    const caller = { keyId: `key_${'k'.repeat(22)}`, plan: 'professional', limits: {} } as const;
    const hourly = KEY_LIMIT_NAMES.map((name) => keyLimit(name, caller)).filter(
      ({ windowSeconds }) => windowSeconds === 3600,
    );
    for (let minute = 0; minute < 60; minute += 1)
      await limiter.increment(minuteLimit(caller), START_MS + minute * 60_000);
    for (const limit of hourly) await limiter.increment(limit, START_MS);
    const item = (await itemOf(caller.keyId)) ?? {};
    expect(Object.keys(item)).toHaveLength(60 + hourly.length + 3);
    // A number of up to four digits takes three bytes.
    const bytes = Object.entries(item).map(
      ([name, value]) =>
        name.length + (typeof value === 'number' && value < 10_000 ? 3 : String(value).length),
    );
    expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(1024);
  });

  it('counts twice when the SDK resends the write because its response was lost: fewer pass, never more', async () => {
    const lossy = losingResponses(table);
    lossy.loseWrites(1);
    const limit = limitOf({ subject: 'lost', limit: 2 });
    expect(await limiterOn(lossy).increment(limit, START_MS)).toEqual({
      allowed: true,
      remaining: 0,
      resetSeconds: 60,
      endsAt: END,
    });
    expect(lossy.lost()).toBe(1);
    expect(await itemOf('lost')).toMatchObject({ minute_0: 2 });
    lossy.client.destroy();
  });
});

describe('a call that gets no response', () => {
  it.each([
    [1000, 'in Lambda', 'list-users'],
    [3000, 'on one machine', undefined],
  ])('ends after %d ms %s', async (timeoutMs, _, functionName) => {
    const timeout = mock.method(AbortSignal, 'timeout', () => AbortSignal.abort(new Error('timed out')));
    const limit = limitOf({ subject: 'hanging', limit: 1, name: 'minute', windowSeconds: 60 });
    if (functionName !== undefined) process.env.AWS_LAMBDA_FUNCTION_NAME = functionName;
    const deployed = rateLimiterFromEnv(hangingLimits(table));
    delete process.env.AWS_LAMBDA_FUNCTION_NAME;
    await expect(deployed.increment(limit, START_MS)).rejects.toThrow('timed out');
    expect(timeout.mock.calls.map((call) => call.arguments)).toEqual([[timeoutMs]]);
    timeout.mock.restore();
  });
});

describe('decrement', () => {
  it('is not sent again when its response was lost, so that it never refunds what another request counted', async () => {
    const lossy = losingResponses(table);
    const limit = limitOf({ subject: 'lost-refund', limit: 5 });
    for (const _ of [1, 2, 3]) await limiter.increment(limit, START_MS);
    lossy.loseWrites(1);
    await expect(limiterOn(lossy).decrement(limit, START_MS)).rejects.toThrow('got no response');
    expect(lossy.lost()).toBe(1);
    expect(await itemOf('lost-refund')).toMatchObject({ minute_0: 2 });
    await limiterOn(lossy).decrement(limit, START_MS);
    expect(await itemOf('lost-refund')).toMatchObject({ minute_0: 1 });
    lossy.client.destroy();
  });
});
