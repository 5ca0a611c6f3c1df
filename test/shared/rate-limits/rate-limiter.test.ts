import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { type LimitState, type RateLimiter, rateLimiter } from '#shared/rate-limits/rate-limiter.ts';
import type { Table } from '#shared/table/client.ts';
import { limitKey } from '#shared/table/keys.ts';
import { type EmbeddedTable, startEmbeddedTable } from '#test/table/embedded-table.ts';
import { losingResponses } from '#test/table/lost-responses.ts';

let table: EmbeddedTable;
let limiter: RateLimiter;

beforeAll(async () => {
  table = await startEmbeddedTable();
  limiter = rateLimiter(table);
});
afterAll(() => table.stop());

const START_MS = Date.parse('2026-11-21T08:00:00Z');

/** Concurrent requests of one key. */
const requests = (keyId: string, times: number, limit: number, nowMs = START_MS) =>
  Promise.all(
    Array.from({ length: times }, () =>
      limiter.increment({ subject: keyId, limit, windowSeconds: 60 }, nowMs),
    ),
  );

const allowedOf = (states: readonly LimitState[]): number => states.filter(({ allowed }) => allowed).length;

const itemOf = async (keyId: string, window: number) =>
  (await table.client.send(new GetCommand({ TableName: table.name, Key: limitKey(keyId, window) }))).Item;

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

  it('starts a new count with the next clock minute, not a millisecond earlier', async () => {
    await requests('minute', 2, 2);
    expect(allowedOf(await requests('minute', 1, 2, START_MS + 59_999))).toBe(0);
    expect(await requests('minute', 1, 2, START_MS + 60_000)).toEqual([
      { allowed: true, remaining: 1, resetSeconds: 60 },
    ]);
  });

  it('does not count refused requests, so a limit that is raised within the minute applies in full', async () => {
    await requests('raised', 20, 5);
    expect(allowedOf(await requests('raised', 20, 12))).toBe(7);
  });

  it('refuses when the limit was lowered below the current count', async () => {
    await requests('lowered', 5, 10);
    expect(await requests('lowered', 1, 3)).toEqual([{ allowed: false, remaining: 0, resetSeconds: 60 }]);
  });

  it('counts each key separately', async () => {
    await requests('key-a', 3, 3);
    expect(allowedOf(await requests('key-b', 3, 3))).toBe(3);
  });

  it('returns the seconds until the next window', async () => {
    const [state] = await requests('seconds', 1, 5, START_MS + 36_500);
    expect(state).toEqual({ allowed: true, remaining: 4, resetSeconds: 24 });
  });

  it('counts per clock hour when the window is an hour', async () => {
    const limit = { subject: 'hourly', limit: 1, windowSeconds: 3600 };
    expect(await limiter.increment(limit, START_MS)).toEqual({
      allowed: true,
      remaining: 0,
      resetSeconds: 3600,
    });
    expect(await limiter.increment(limit, START_MS + 3_599_999)).toEqual({
      allowed: false,
      remaining: 0,
      resetSeconds: 1,
    });
    expect(await limiter.increment(limit, START_MS + 3_600_000)).toMatchObject({ allowed: true });
  });

  it('keeps a window for one hour after its end', async () => {
    await requests('forgotten', 1, 5, START_MS + 500);
    expect(await itemOf('forgotten', START_MS / 60_000)).toMatchObject({
      count: 1,
      ttl: START_MS / 1000 + 1 + 60 + 3600,
    });
  });

  it('throws what the table throws', async () => {
    const client = { send: () => Promise.reject(new Error('the table is unreachable')) };
    const broken = rateLimiter({ client, name: 'test' } as unknown as Table);
    await expect(broken.increment({ subject: 'any', limit: 1, windowSeconds: 60 }, START_MS)).rejects.toThrow(
      'the table is unreachable',
    );
  });

  it('counts a write once when the SDK resends it because its response was lost', async () => {
    const lossy = losingResponses(table);
    lossy.loseWrites(1);
    const limit = { subject: 'lost', limit: 1, windowSeconds: 60 };
    expect(await rateLimiter(lossy).increment(limit, START_MS)).toEqual({
      allowed: true,
      remaining: 0,
      resetSeconds: 60,
    });
    expect(lossy.lost()).toBe(1);
    expect(await itemOf('lost', START_MS / 60_000)).toMatchObject({ count: 1 });
    lossy.client.destroy();
  });
});

describe('read', () => {
  it('returns the states of several limits without counting', async () => {
    const limits = ['read-a', 'read-b'].map((subject) => ({ subject, limit: 2, windowSeconds: 60 }));
    await requests('read-a', 2, 2);
    const expected = [
      { allowed: false, remaining: 0, resetSeconds: 60 },
      { allowed: true, remaining: 2, resetSeconds: 60 },
    ];
    expect(await limiter.read(limits, START_MS)).toEqual(expected);
    expect(await limiter.read(limits, START_MS)).toEqual(expected);
  });
});

describe('decrement', () => {
  it('refunds one count and never goes below zero', async () => {
    const limit = { subject: 'refund', limit: 1, windowSeconds: 60 };
    await limiter.increment(limit, START_MS);
    await limiter.decrement(limit, START_MS);
    await limiter.decrement(limit, START_MS);
    expect(await limiter.read([limit], START_MS)).toMatchObject([{ remaining: 1 }]);
  });
});
