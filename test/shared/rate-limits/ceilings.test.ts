import { type Problem, problem } from '#shared/problems.ts';
import { type CeilingName, ceilingLimits } from '#shared/rate-limits/ceilings.ts';
import type { Limit } from '#shared/rate-limits/limit.ts';
import { consume } from '#shared/rate-limits/request-limits.ts';
import { itForAll } from '#test/for-all.ts';
import { quietLog } from '#test/shared/providers/quiet-log.ts';
import { useTable } from '#test/table/use-table.ts';
import { limiterOn } from './limiter-on.ts';

const table = useTable();

const lines = quietLog();
beforeEach(() => {
  lines.length = 0;
});

const logged = () => lines.map((line) => JSON.parse(line));

const APP = { keyId: 'key_app', sellerId: 'sel_app', scopes: ['buyers:register'] } as const;

let keys = 0;

/** A key without buyers:register, of a new seller or of this one. */
const sellerKey = (sellerId = `sel_share_${keys + 1}`) => {
  keys += 1;
  return { keyId: `key_share_${keys}`, sellerId, scopes: ['users:write'] } as const;
};

let days = 0;

/** Eight o'clock UTC on a day that no other test counts on. */
const newDay = (): number => {
  days += 1;
  return Date.UTC(2026, 0, days * 3, 8);
};

/** Counts calls at once. Returns how many passed. */
const counted = async (count: number, limits: readonly Limit[], nowMs: number): Promise<number> => {
  const limiter = limiterOn(table);
  const results = await Promise.allSettled(
    Array.from({ length: count }, () => consume(limiter, limits, nowMs)),
  );
  return results.filter(({ status }) => status === 'fulfilled').length;
};

const problemOf = (limits: readonly Limit[], nowMs: number): Promise<Problem> =>
  consume(limiterOn(table), limits, nowMs).then(
    () => problem('internal'),
    (thrown: Problem) => thrown,
  );

const CEILINGS = [
  { name: 'paid-checks-per-day', code: 'verification_unavailable', ofSellers: 20 },
  { name: 'sms-per-day', code: 'sms_unavailable', ofSellers: 16 },
] as const satisfies readonly { name: CeilingName; code: string; ofSellers: number }[];

describe('ceilingLimits of a stage with a ceiling of 20', () => {
  itForAll(CEILINGS)(
    'lets the buyer app use all of it, then refuses until midnight UTC',
    async ({ name, code }) => {
      const nowMs = newDay();
      const limits = ceilingLimits(name, 20, APP);
      expect(await counted(25, limits, nowMs)).toBe(20);
      expect(await problemOf(limits, nowMs + 60_000)).toMatchObject({
        code,
        retryAfterSeconds: 16 * 3600 - 60,
      });
      expect(await counted(1, limits, nowMs + 16 * 3_600_000)).toBe(1);
    },
  );

  itForAll(CEILINGS)(
    'lets a seller use a quarter of it over all its keys, and no other seller notices',
    async ({ name, code }) => {
      const nowMs = newDay();
      const key = sellerKey();
      const [own, second] = [ceilingLimits(name, 20, key), ceilingLimits(name, 20, sellerKey(key.sellerId))];
      const ofOwn = await counted(3, own, nowMs);
      expect([ofOwn, await counted(8, second, nowMs)]).toEqual([3, 2]);
      expect(await problemOf(own, nowMs)).toMatchObject({ code, retryAfterSeconds: 16 * 3600 });
      expect(await counted(9, ceilingLimits(name, 20, sellerKey()), nowMs)).toBe(5);
    },
  );

  itForAll(CEILINGS)(
    'lets all sellers together use all paid checks, and all messages but the last fifth',
    async ({ name, code, ofSellers }) => {
      const nowMs = newDay();
      const sellers = Array.from({ length: 5 }, () => ceilingLimits(name, 20, sellerKey()));
      let passed = 0;
      for (const limits of sellers) passed += await counted(6, limits, nowMs);
      expect(passed).toBe(ofSellers);
      expect(await problemOf(ceilingLimits(name, 20, sellerKey()), nowMs)).toMatchObject({ code });
      expect(await counted(9, ceilingLimits(name, 20, APP), nowMs)).toBe(20 - ofSellers);
    },
  );

  itForAll(CEILINGS)(
    'logs the used percentage of the ceiling, and the key that used up the share',
    async ({ name }) => {
      const nowMs = newDay();
      lines.length = 0;
      const key = sellerKey();
      for (const _ of [1, 2, 3, 4, 5]) await counted(1, ceilingLimits(name, 20, key), nowMs);
      const percents = logged().filter(({ event }) => event === 'stage_ceiling_counted');
      expect(
        percents.map(({ ceiling, StageCeilingUsedPercent }) => [ceiling, StageCeilingUsedPercent]),
      ).toEqual([5, 10, 15, 20, 25].map((percent) => [name, percent]));
      expect(percents[0]).toMatchObject({ _aws: { CloudWatchMetrics: [{ Dimensions: [['ceiling']] }] } });
      const usedUp = logged().filter(({ event }) => event === 'key_limit_used_up');
      expect(usedUp).toEqual([expect.objectContaining({ limit: `share-of-${name}`, key_id: key.keyId })]);
    },
  );
});

describe('ceilingLimits', () => {
  it('sets no limit on a stage without a ceiling', () => {
    expect(ceilingLimits('sms-per-day', undefined, sellerKey())).toEqual([]);
  });

  it('lets one call pass of a ceiling whose quarter is less than one', async () => {
    expect(await counted(3, ceilingLimits('paid-checks-per-day', 3, sellerKey()), newDay())).toBe(1);
  });

  it('lets callers without a key use the whole ceiling, where no key is required', async () => {
    expect(await counted(9, ceilingLimits('sms-per-day', 5, undefined), newDay())).toBe(5);
  });
});
