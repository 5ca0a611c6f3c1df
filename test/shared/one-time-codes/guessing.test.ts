import fc from 'fast-check';
import { afterUnsent } from '#shared/one-time-codes/rules.ts';
import { runsOf } from '#test/full-run.ts';
import { STRATEGIES, simulateMonth, WITH_DAILY_SIGN_IN, WITH_DAILY_SIGN_IN_TO_APP } from './guessing.ts';
import { modelPhone } from './model.ts';

const results = STRATEGIES.map(simulateMonth);

describe('a month of guessing through one seller', () => {
  it.each(results)('has at most 100 consecutive failures: $strategy', ({ maxConsecutiveFailures }) => {
    expect(maxConsecutiveFailures).toBeLessThanOrEqual(100);
  });

  it.each(results)('has a chance below 1 in 10,000 of a right guess: $strategy', ({ chance }) => {
    expect(chance).toBeLessThan(1e-4);
  });

  it('makes at most 50 guesses a day where the buyer signs in every day', () => {
    const { guesses, sms, maxConsecutiveFailures, chance } = simulateMonth(WITH_DAILY_SIGN_IN);
    expect([guesses, sms, maxConsecutiveFailures, chance.toExponential(1)]).toEqual([
      1500,
      300,
      50,
      '1.5e-3',
    ]);
  });

  it('makes at most 69 guesses a day through the buyer app where the buyer signs in every day', () => {
    const { guesses, maxConsecutiveFailures, chance } = simulateMonth(WITH_DAILY_SIGN_IN_TO_APP);
    expect([guesses, maxConsecutiveFailures, chance.toExponential(1)]).toEqual([1954, 69, '2.0e-3']);
  });
});

/** What becomes of a send. One that is not counted over all sellers leaves the code before it outstanding. */
const OUTCOMES = ['sent', 'bounced', 'not reached', 'not counted'] as const;

/** One step of a guesser: a send that goes out or is undone, guesses on its code before and after, and a pause. */
interface Step {
  readonly sends: boolean;
  readonly outcome: (typeof OUTCOMES)[number];
  readonly guessesBefore: number;
  readonly guessesAfter: number;
  readonly pauseSeconds: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  sends: fc.boolean(),
  outcome: fc.constantFrom(...OUTCOMES),
  guessesBefore: fc.integer({ min: 0, max: 8 }),
  guessesAfter: fc.integer({ min: 0, max: 8 }),
  pauseSeconds: fc.constantFrom(0, 1, 59, 60, 299, 300, 899, 900, 3600, 86_400, 172_800),
});

/** Plays the steps once per round. Returns the number of guesses and the consecutive failures of the phone. */
const play = (steps: readonly Step[]) => {
  const phone = modelPhone();
  const failures: number[] = [];
  let now = 0;
  let guesses = 0;
  const guess = (times: number): void => {
    for (let index = 0; index < times; index += 1) guesses += Number(phone.countTry(now));
  };
  for (let round = 0; round < 40; round += 1) {
    for (const [index, step] of steps.entries()) {
      const { sends, outcome, guessesBefore, guessesAfter, pauseSeconds } = step;
      const mac = `${round}-${index}`;
      const before = sends ? phone.send(mac, now) : undefined;
      guess(guessesBefore);
      const unsent = before && afterUnsent(before, { now, isBounced: outcome === 'bounced' });
      const restored = outcome === 'not counted' ? before : unsent;
      if (restored !== undefined && outcome !== 'sent') phone.undo(restored, mac);
      guess(guessesAfter);
      failures.push(phone.record.failures);
      now += pauseSeconds;
    }
  }
  return { guesses, failures };
};

describe('any mix of sends, refused sends, guesses and pauses', () => {
  it('makes at most 100 guesses, each of which is a consecutive failure', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 20 }), (steps) => {
        const { guesses, failures } = play(steps);
        expect(guesses).toBeLessThanOrEqual(100);
        expect(failures.at(-1)).toBe(guesses);
        expect(failures).toEqual([...failures].sort((a, b) => a - b));
      }),
      { numRuns: runsOf(100) },
    );
  });

  it('reaches 100 guesses, so the property is not empty', () => {
    const fastest: Step = {
      sends: true,
      outcome: 'sent',
      guessesBefore: 5,
      guessesAfter: 0,
      pauseSeconds: 86_400,
    };
    expect(play([fastest]).guesses).toBe(100);
  });
});
