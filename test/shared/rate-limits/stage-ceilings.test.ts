import { redirectLog } from '#shared/log.ts';
import { Problem } from '#shared/problems.ts';
import { type RateLimiter, rateLimiter } from '#shared/rate-limits/rate-limiter.ts';
import { type StageCeilingNumbers, stageCeilings } from '#shared/rate-limits/stage-ceilings.ts';
import { fakeClock } from '#test/fakes/clock.ts';
import { useTable } from '#test/table/use-table.ts';

const table = useTable();

let lines: string[];
let restoreLog: () => void;
beforeEach(() => {
  lines = [];
  restoreLog = redirectLog((line) => lines.push(line));
});
afterEach(() => restoreLog());

let days = 0;

/** The ceilings of a stage on a day that no other test counts on, at 08:00 UTC. */
const ceilingsOnNewDay = (numbers: StageCeilingNumbers, limiter: RateLimiter = rateLimiter(table)) => {
  days += 1;
  const clock = fakeClock(new Date(Date.UTC(2026, 0, days * 3, 8)).toISOString());
  return { clock, ceilings: stageCeilings(limiter, numbers, clock) };
};

const problemOf = async (call: Promise<unknown>): Promise<Problem> => {
  const error = await call.then(
    () => new Error('the call was counted'),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(Problem);
  return error as Problem;
};

const unreachable = new Proxy({} as RateLimiter, {
  get: () => () => Promise.reject(new Error('the table cannot be reached')),
});

const OPERATIONS = [
  ['consumePaidCheck', { paidChecksPerDay: 3 }, 'verification_unavailable', 'paid-checks-per-day'],
  ['consumeSms', { smsPerDay: 3 }, 'sms_unavailable', 'sms-per-day'],
] as const;

describe.each(OPERATIONS)('%s', (consume, numbers, code, ceiling) => {
  it('refuses the call after the ceiling, with the seconds to midnight UTC as Retry-After', async () => {
    const { clock, ceilings } = ceilingsOnNewDay(numbers);
    const calls = await Promise.allSettled(Array.from({ length: 10 }, () => ceilings[consume]()));
    expect(calls.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    clock.advance(60);
    expect(await problemOf(ceilings[consume]())).toMatchObject({
      code,
      retryAfterSeconds: 16 * 3600 - 60,
    });
    clock.advance(16 * 3600 - 60);
    await expect(ceilings[consume]()).resolves.toBeDefined();
  });

  it('counts a refunded call no longer, on the day on which it was counted', async () => {
    const { clock, ceilings } = ceilingsOnNewDay(numbers);
    const calls = await Promise.all(Array.from({ length: 3 }, () => ceilings[consume]()));
    clock.advance(16 * 3600);
    await calls[0]?.refund();
    const nextDay = await Promise.allSettled(Array.from({ length: 4 }, () => ceilings[consume]()));
    expect(nextDay.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    clock.advance(-16 * 3600);
    await expect(ceilings[consume]()).resolves.toBeDefined();
    expect((await problemOf(ceilings[consume]())).code).toBe(code);
  });

  it('logs the used percentage as a metric of the ceiling', async () => {
    const { ceilings } = ceilingsOnNewDay(numbers);
    for (const _ of Array.from({ length: 3 })) await ceilings[consume]();
    await problemOf(ceilings[consume]());
    const events = lines.map((line) => JSON.parse(line));
    expect(events.map(({ event, StageCeilingUsedPercent }) => [event, StageCeilingUsedPercent])).toEqual(
      [33, 67, 100, 100].map((percent) => ['stage_ceiling_counted', percent]),
    );
    expect(events[0]).toMatchObject({
      ceiling,
      _aws: { CloudWatchMetrics: [{ Dimensions: [['ceiling']] }] },
    });
  });

  it('makes no call to the table when the ceiling is unset', async () => {
    const { ceilings } = ceilingsOnNewDay({}, unreachable);
    const call = await ceilings[consume]();
    await expect(call.refund()).resolves.toBeUndefined();
    expect(lines).toEqual([]);
  });

  it('throws when the count cannot be written, so that nothing is spent uncounted', async () => {
    const { ceilings } = ceilingsOnNewDay(numbers, unreachable);
    await expect(ceilings[consume]()).rejects.toThrow('the table cannot be reached');
  });
});

describe('stageCeilings', () => {
  it('counts paid checks and SMS separately', async () => {
    const { ceilings } = ceilingsOnNewDay({ paidChecksPerDay: 1, smsPerDay: 1 });
    await ceilings.consumePaidCheck();
    await expect(ceilings.consumeSms()).resolves.toBeDefined();
  });
});
