import { redirectLog } from '#shared/log.ts';
import { Problem } from '#shared/problems.ts';
import { type KeyLimitName, planItem } from '#shared/rate-limits/plans.ts';
import type { RateLimiter } from '#shared/rate-limits/rate-limiter.ts';
import { keyLimits } from '#shared/rate-limits/request-limits.ts';
import { type StageCeilingNumbers, stageCeilings } from '#shared/rate-limits/stage-ceilings.ts';
import { fakeClock } from '#test/fakes/clock.ts';
import { losingResponses } from '#test/table/lost-responses.ts';
import { useTable } from '#test/table/use-table.ts';
import { patientLimiter } from './patient-limiter.ts';

const table = useTable();

let lines: string[];
let restoreLog: () => void;
beforeEach(() => {
  lines = [];
  restoreLog = redirectLog((line) => lines.push(line));
});
afterEach(() => restoreLog());

const APP = { keyId: 'key_app', sellerId: 'sel_app', scopes: ['buyers:register'] } as const;
const NO_LIMITS = { consume: async () => async () => {} };

let days = 0;

/** The ceilings of a stage on a day that no other test counts on, at 08:00 UTC. */
const ceilingsOnNewDay = (numbers: StageCeilingNumbers, limiter: RateLimiter = patientLimiter(table)) => {
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

describe.each(OPERATIONS)('%s of the buyer app', (consume, numbers, code, ceiling) => {
  it('refuses the call after the ceiling, with the seconds to midnight UTC as Retry-After', async () => {
    const { clock, ceilings } = ceilingsOnNewDay(numbers);
    const calls = await Promise.allSettled(
      Array.from({ length: 10 }, () => ceilings[consume](APP, NO_LIMITS)),
    );
    expect(calls.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    clock.advance(60);
    expect(await problemOf(ceilings[consume](APP, NO_LIMITS))).toMatchObject({
      code,
      retryAfterSeconds: 16 * 3600 - 60,
    });
    clock.advance(16 * 3600 - 60);
    await expect(ceilings[consume](APP, NO_LIMITS)).resolves.toBeDefined();
  });

  it('counts a refunded call no longer, on the day on which it was counted', async () => {
    const { clock, ceilings } = ceilingsOnNewDay(numbers);
    const calls = await Promise.all(Array.from({ length: 3 }, () => ceilings[consume](APP, NO_LIMITS)));
    clock.advance(16 * 3600);
    await calls[0]?.();
    const nextDay = await Promise.allSettled(
      Array.from({ length: 4 }, () => ceilings[consume](APP, NO_LIMITS)),
    );
    expect(nextDay.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    clock.advance(-16 * 3600);
    await expect(ceilings[consume](APP, NO_LIMITS)).resolves.toBeDefined();
    expect((await problemOf(ceilings[consume](APP, NO_LIMITS))).code).toBe(code);
  });

  it('logs the used percentage as a metric of the ceiling', async () => {
    const { ceilings } = ceilingsOnNewDay(numbers);
    for (const _ of Array.from({ length: 3 })) await ceilings[consume](APP, NO_LIMITS);
    await problemOf(ceilings[consume](APP, NO_LIMITS));
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
    const refund = await ceilings[consume](APP, NO_LIMITS);
    await expect(refund()).resolves.toBeUndefined();
    expect(lines).toEqual([]);
  });

  it('throws when the count cannot be written, so that nothing is spent uncounted', async () => {
    const { ceilings } = ceilingsOnNewDay(numbers, unreachable);
    await expect(ceilings[consume](APP, NO_LIMITS)).rejects.toThrow('the table cannot be reached');
  });

  it('leaves the count one too high when the refund cannot be written, and does not throw', async () => {
    const limiter = { ...patientLimiter(table), decrement: unreachable.decrement };
    const { ceilings } = ceilingsOnNewDay(numbers, limiter);
    const refund = await ceilings[consume](APP, NO_LIMITS);
    await refund();
    await ceilings[consume](APP, NO_LIMITS);
    await ceilings[consume](APP, NO_LIMITS);
    expect((await problemOf(ceilings[consume](APP, NO_LIMITS))).code).toBe(code);
  });
});

describe('stageCeilings', () => {
  it('counts paid checks and SMS separately', async () => {
    const { ceilings } = ceilingsOnNewDay({ paidChecksPerDay: 1, smsPerDay: 1 });
    await ceilings.consumePaidCheck(APP, NO_LIMITS);
    await expect(ceilings.consumeSms(APP, NO_LIMITS)).resolves.toBeDefined();
  });

  it('lets callers without a key use the whole ceiling of SMS, where no key is required', async () => {
    const { ceilings } = ceilingsOnNewDay({ smsPerDay: 2 });
    const calls = Array.from({ length: 3 }, () => ceilings.consumeSms(undefined, NO_LIMITS));
    const results = await Promise.allSettled(calls);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
  });
});

let keys = 0;

/** A new key without buyers:register, of a new seller or of this one, and the ceilings it counts against, on the table. */
const sellerOn = (
  { clock, ceilings }: ReturnType<typeof ceilingsOnNewDay>,
  limits: Partial<Record<KeyLimitName, number>> = {},
  sellerId = `sel_share_${keys}`,
) => {
  keys += 1;
  const key = { keyId: `key_share_${keys}`, sellerId } as const;
  const caller = { ...key, scopes: ['users:write'], plan: 'free', limits } as const;
  const withinPlan = Promise.resolve({ plan: planItem('free', 1, 1), hourly: new Map() });
  const own = () => keyLimits({ rateLimiter: patientLimiter(table), clock }, { caller, withinPlan });
  return {
    ...key,
    consumePaidCheck: () => ceilings.consumePaidCheck(caller, own()),
    consumeSms: () => ceilings.consumeSms(caller, own()),
  };
};

const countCalls = async (count: number, call: () => Promise<unknown>): Promise<number> => {
  const results = await Promise.allSettled(Array.from({ length: count }, call));
  return results.filter(({ status }) => status === 'fulfilled').length;
};

describe.each([
  ['consumePaidCheck', { paidChecksPerDay: 20 }, 'verification_unavailable', 'paid-checks-per-day'],
  ['consumeSms', { smsPerDay: 20 }, 'sms_unavailable', 'sms-per-day'],
] as const)('%s of a key without buyers:register', (consume, numbers, code, name) => {
  it('refuses every key of the seller after a quarter of the ceiling like the ceiling itself, and no other seller', async () => {
    const day = ceilingsOnNewDay(numbers);
    const [seller, other] = [sellerOn(day), sellerOn(day)];
    const second = sellerOn(day, {}, seller.sellerId);
    expect((await countCalls(4, seller[consume])) + (await countCalls(8, second[consume]))).toBe(5);
    expect(await problemOf(seller[consume]())).toMatchObject({ code, retryAfterSeconds: 16 * 3600 });
    await expect(other[consume]()).resolves.toBeDefined();
    day.clock.advance(16 * 3600);
    await expect(seller[consume]()).resolves.toBeDefined();
  });

  it('names the key and the limit in the log when the share is used up', async () => {
    const seller = sellerOn(ceilingsOnNewDay(numbers));
    const logged = () =>
      lines.map((line) => JSON.parse(line)).filter(({ event }) => event === 'key_limit_used_up');
    await countCalls(4, seller[consume]);
    expect(logged()).toEqual([]);
    await countCalls(2, seller[consume]);
    expect(logged()).toEqual([expect.objectContaining({ limit: name, key_id: seller.keyId })]);
  });

  it('counts nothing of the stage when the share is used up', async () => {
    const day = ceilingsOnNewDay(numbers);
    const seller = sellerOn(day);
    expect(await countCalls(50, seller[consume])).toBe(5);
    expect(await countCalls(20, () => day.ceilings[consume](APP, NO_LIMITS))).toBe(15);
  });

  it('counts nothing of the share when the ceiling is used up', async () => {
    const day = ceilingsOnNewDay(numbers);
    const ofApp = await Promise.all(Array.from({ length: 20 }, () => day.ceilings[consume](APP, NO_LIMITS)));
    const seller = sellerOn(day);
    expect((await problemOf(seller[consume]())).code).toBe(code);
    await Promise.all(ofApp.map((refund) => refund()));
    expect(await countCalls(12, seller[consume])).toBe(5);
  });

  it('refunds the share with the count of the stage', async () => {
    const day = ceilingsOnNewDay(numbers);
    const seller = sellerOn(day);
    const [refund] = await Promise.all(Array.from({ length: 5 }, seller[consume]));
    await refund?.();
    expect(await countCalls(3, seller[consume])).toBe(1);
    expect(await countCalls(20, () => day.ceilings[consume](APP, NO_LIMITS))).toBe(15);
  });

  it('lets one call pass of a ceiling whose quarter is less than one', async () => {
    const day = ceilingsOnNewDay({ paidChecksPerDay: 3, smsPerDay: 3 });
    expect(await countCalls(3, sellerOn(day)[consume])).toBe(1);
  });
});

describe('consumePaidCheck', () => {
  it("refuses with rate_limit_exceeded at the key's own limit, where that is below its share", async () => {
    const seller = sellerOn(ceilingsOnNewDay({ paidChecksPerDay: 20 }), { 'paid-checks-per-day': 2 });
    expect(await countCalls(5, seller.consumePaidCheck)).toBe(2);
    expect((await problemOf(seller.consumePaidCheck())).code).toBe('rate_limit_exceeded');
  });
});

describe('consumeSms', () => {
  it('keeps the last fifth of the ceiling for the buyer app', async () => {
    const day = ceilingsOnNewDay({ smsPerDay: 20 });
    const sellers = Array.from({ length: 5 }, () => sellerOn(day));
    let ofSellers = 0;
    for (const { consumeSms } of sellers) ofSellers += await countCalls(5, consumeSms);
    expect(ofSellers).toBe(16);
    expect((await problemOf(sellerOn(day).consumeSms())).code).toBe('sms_unavailable');
    expect(await countCalls(5, () => day.ceilings.consumeSms(APP, NO_LIMITS))).toBe(4);
  });

  it("refunds the key's limit per hour when its share is used up", async () => {
    const seller = sellerOn(ceilingsOnNewDay({ smsPerDay: 8 }), { 'sms-per-hour': 3 });
    expect(await countCalls(2, seller.consumeSms)).toBe(2);
    for (const _ of [1, 2, 3]) expect((await problemOf(seller.consumeSms())).code).toBe('sms_unavailable');
  });

  it('counts the share once when the response of its write is lost', async () => {
    const lossy = losingResponses(table);
    const seller = sellerOn(ceilingsOnNewDay({ smsPerDay: 8 }, patientLimiter(lossy)));
    lossy.loseWrites(1);
    const refund = await seller.consumeSms();
    lossy.loseWrites(1);
    await refund();
    expect(lossy.lost()).toBe(2);
    expect(await countCalls(3, seller.consumeSms)).toBe(2);
    lossy.client.destroy();
  });
});
