import fc from 'fast-check';
import type { Limit, LimitState } from '#shared/rate-limits/limit.ts';
import { limitKey, statesIn } from '#shared/rate-limits/rate-limiter.ts';
import { batchGet } from '#shared/table/reads.ts';
import { runsOf } from '#test/full-run.ts';
import { useTable } from '#test/table/use-table.ts';
import { limiterOn, limitOf } from './limiter-on.ts';

const table = useTable();

const START_MS = Date.parse('2026-11-21T08:00:00Z');

/** Limits of two subjects. Those of a subject share its items. */
const LIMITS = ['a', 'b'].flatMap((subject) => [
  { subject, name: 'minute', windowSeconds: 60 } as const,
  { subject, name: 'hourly', windowSeconds: 3600 } as const,
  { subject, name: 'other', windowSeconds: 3600 } as const,
  { subject, name: 'daily', windowSeconds: 86_400 } as const,
]);

type Counted = (typeof LIMITS)[number];

/** The maximum of a limit can change from call to call. */
const maximum = fc.constantFrom(1, 2, 3);
const counted = fc.constantFrom(...LIMITS);

const action = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      name: fc.constant('count' as const),
      counted,
      maximum: fc.constantFrom(0, 1, 2, 3),
      amount: fc.constantFrom(0, 1, 1, 1),
    }),
  },
  { weight: 3, arbitrary: fc.record({ name: fc.constant('refund' as const), counted }) },
  {
    weight: 3,
    arbitrary: fc.record({
      name: fc.constant('count and read' as const),
      subject: fc.constantFrom('a', 'b'),
      maximum,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ name: fc.constant('read' as const), subject: fc.constantFrom('a', 'b'), maximum }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      name: fc.constant('wait' as const),
      ms: fc.constantFrom(1, 36_500, 59_999, 60_000, 3_599_999, 3_600_000, 57_600_000),
    }),
  },
);

type Action = Parameters<Parameters<typeof action.map>[0]>[0];

/** The counts in memory. */
const modelLimiter = () => {
  const counts = new Map<string, number>();
  const keyOf = ({ subject, name, windowSeconds }: Counted, nowMs: number) =>
    `${subject} ${name} ${Math.floor(nowMs / 1000 / windowSeconds)}`;
  const stateOf = (limit: Counted, max: number, nowMs: number): LimitState => {
    const remaining = Math.max(0, max - (counts.get(keyOf(limit, nowMs)) ?? 0));
    const endsAt = (Math.floor(nowMs / 1000 / limit.windowSeconds) + 1) * limit.windowSeconds;
    return { allowed: remaining > 0, remaining, endsAt, resetSeconds: Math.ceil(endsAt - nowMs / 1000) };
  };
  const add = (limit: Counted, nowMs: number, amount: number) =>
    counts.set(keyOf(limit, nowMs), Math.max(0, (counts.get(keyOf(limit, nowMs)) ?? 0) + amount));
  return {
    stateOf,
    count(
      limit: Counted,
      max: number,
      { nowMs, amount = 1 }: { nowMs: number; amount?: number },
    ): LimitState {
      const { allowed } = stateOf(limit, max, nowMs);
      if (allowed) add(limit, nowMs, amount);
      return { ...stateOf(limit, max, nowMs), allowed };
    },
    refund: (limit: Counted, nowMs: number) => add(limit, nowMs, -1),
  };
};

let runs = 0;

/** The limits of a history, which no other one counts. */
const storedLimits = () => {
  runs += 1;
  const run = runs;
  return (limit: Counted, max: number): Limit =>
    limitOf({ ...limit, subject: `${run}-${limit.subject}`, limit: max });
};

/** Replays a history on the store and on the model. Returns the states of both. */
const replay = async (history: readonly Action[]) => {
  const stored = storedLimits();
  const limiter = limiterOn(table);
  const model = modelLimiter();
  const pairs: { stored: unknown; expected: unknown }[] = [];
  let nowMs = START_MS;
  for (const step of history) {
    if (step.name === 'wait') nowMs += step.ms;
    if (step.name === 'refund') {
      await limiter.decrement(stored(step.counted, 1), nowMs);
      model.refund(step.counted, nowMs);
    }
    if (step.name === 'count') {
      const { counted: limit, maximum: max, amount } = step;
      pairs.push({
        stored: await limiter.increment(stored(limit, max), nowMs, amount as 0 | 1),
        expected: model.count(limit, max, { nowMs, amount }),
      });
    }
    if (step.name === 'count and read' || step.name === 'read') {
      const max = step.maximum;
      const own = LIMITS.filter(({ subject }) => subject === step.subject);
      const [first, ...others] = own.filter(({ windowSeconds }) => windowSeconds <= 3600) as [
        Counted,
        ...Counted[],
      ];
      const limits = own.map((limit) => stored(limit, max));
      if (step.name === 'count and read')
        pairs.push({
          stored: await limiter.incrementAndRead(
            stored(first, max),
            others.map((limit) => stored(limit, max)),
            nowMs,
          ),
          expected: [
            model.count(first, max, { nowMs }),
            ...others.map((limit) => model.stateOf(limit, max, nowMs)),
          ],
        });
      const items = await batchGet(
        table,
        limits.map((limit) => limitKey(limit, nowMs)),
      );
      const expected = own.map((limit) => [limit.name, model.stateOf(limit, max, nowMs)]);
      pairs.push({ stored: [...statesIn(items, limits, nowMs)], expected });
    }
  }
  return pairs;
};

describe('the rate limiter', () => {
  it('agrees with counts in memory after any history of two subjects, whose limits change', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 20, maxLength: 60 }), async (history) => {
        const pairs = await replay(history);
        expect(pairs.map(({ stored }) => stored)).toEqual(pairs.map(({ expected }) => expected));
      }),
      { numRuns: runsOf(20) },
    );
  });
});
