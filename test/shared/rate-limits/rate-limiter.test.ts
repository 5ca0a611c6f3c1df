import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { type RateLimiter, rateLimiter } from '#shared/rate-limits/rate-limiter.ts';
import type { Table } from '#shared/table/client.ts';
import { limitKey } from '#shared/table/keys.ts';
import { type EmbeddedTable, startEmbeddedTable } from '#test/table/embedded-table.ts';

let table: EmbeddedTable;
let limiter: RateLimiter;

beforeAll(async () => {
  table = await startEmbeddedTable();
  limiter = rateLimiter(table);
});
afterAll(() => table.stop());

const START_MS = Date.parse('2026-11-21T08:00:00Z');

/** `times` requests of one key at the same moment. */
const requests = (keyId: string, times: number, limit: number, nowMs = START_MS) =>
  Promise.all(
    Array.from({ length: times }, () => limiter.count({ subject: keyId, limit, windowSeconds: 60 }, nowMs)),
  );

const admitted = (standings: readonly { admitted: boolean }[]): number =>
  standings.filter((standing) => standing.admitted).length;

const itemOf = async (keyId: string, window: number) =>
  (await table.client.send(new GetCommand({ TableName: table.name, Key: limitKey(keyId, window) }))).Item;

describe('count', () => {
  it('lets exactly n of 3n requests at the same moment pass, and gives each of them another remainder', async () => {
    const standings = await requests('crowd', 90, 30);
    expect(admitted(standings)).toBe(30);
    const remainders = standings.filter((standing) => standing.admitted).map(({ remaining }) => remaining);
    expect(remainders.sort((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, left) => left));
    expect(standings.filter((standing) => !standing.admitted).map(({ remaining }) => remaining)).toEqual(
      Array(60).fill(0),
    );
  });

  it('starts anew with the next clock minute, and not a millisecond before', async () => {
    await requests('minute', 2, 2);
    expect(admitted(await requests('minute', 1, 2, START_MS + 59_999))).toBe(0);
    expect(await requests('minute', 1, 2, START_MS + 60_000)).toEqual([
      { admitted: true, remaining: 1, resetSeconds: 60 },
    ]);
  });

  it('does not count what it refuses: a limit that is raised within the minute has all its new room', async () => {
    await requests('raised', 20, 5);
    const standings = await requests('raised', 20, 12);
    expect(admitted(standings)).toBe(7);
  });

  it('refuses at once where the limit was lowered below what has passed', async () => {
    await requests('lowered', 5, 10);
    expect(await requests('lowered', 1, 3)).toEqual([{ admitted: false, remaining: 0, resetSeconds: 60 }]);
  });

  it('counts each key for itself', async () => {
    await requests('key-a', 3, 3);
    expect(admitted(await requests('key-b', 3, 3))).toBe(3);
  });

  it('says how many seconds are left of the window', async () => {
    const [standing] = await requests('seconds', 1, 5, START_MS + 36_500);
    expect(standing).toEqual({ admitted: true, remaining: 4, resetSeconds: 24 });
  });

  it('counts by the hour as it does by the minute', async () => {
    const limit = { subject: 'hourly', limit: 1, windowSeconds: 3600 };
    expect(await limiter.count(limit, START_MS)).toEqual({
      admitted: true,
      remaining: 0,
      resetSeconds: 3600,
    });
    expect(await limiter.count(limit, START_MS + 3_599_999)).toEqual({
      admitted: false,
      remaining: 0,
      resetSeconds: 1,
    });
    expect(await limiter.count(limit, START_MS + 3_600_000)).toMatchObject({ admitted: true });
  });

  it('lets the table forget a window an hour after its end, in whole seconds', async () => {
    await requests('forgotten', 1, 5, START_MS + 500);
    expect(await itemOf('forgotten', START_MS / 60_000)).toMatchObject({
      count: 1,
      ttl: START_MS / 1000 + 1 + 60 + 3600,
    });
  });

  it('throws what the table throws: whoever asks decides what an unreachable limiter means', async () => {
    const client = { send: () => Promise.reject(new Error('the table is away')) };
    const broken = rateLimiter({ client, name: 'test' } as unknown as Table);
    await expect(broken.count({ subject: 'any', limit: 1, windowSeconds: 60 }, START_MS)).rejects.toThrow(
      'the table is away',
    );
  });
});
