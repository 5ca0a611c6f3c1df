import { withOneRetry } from '#shared/providers/retry.ts';
import { type UnavailableReason, unavailable } from '#shared/providers/unavailable.ts';
import { failureOf, noHurry } from './failure.ts';

const failure = (reason: UnavailableReason) =>
  unavailable({ provider: 'p', operation: 'o' }, reason, { refused: false });

/** Fails with these, one a try, and then answers. */
const attempts = (...reasons: UnavailableReason[]) => {
  const numbers: number[] = [];
  return {
    numbers,
    attempt: async (number: number) => {
      numbers.push(number);
      const reason = reasons.shift();
      if (reason !== undefined) throw failure(reason);
      return 'answer';
    },
  };
};

const atOnce = () => 0;

it('asks once if that goes well', async () => {
  const { attempt, numbers } = attempts();
  expect(await withOneRetry(attempt, noHurry(), atOnce)).toBe('answer');
  expect(numbers).toEqual([1]);
});

it.each(['transport', 'upstream'] as const)('asks once more after %s', async (reason) => {
  const { attempt, numbers } = attempts(reason);
  expect(await withOneRetry(attempt, noHurry(), atOnce)).toBe('answer');
  expect(numbers).toEqual([1, 2]);
});

it('asks no third time', async () => {
  const { attempt, numbers } = attempts('transport', 'upstream');
  expect((await failureOf(withOneRetry(attempt, noHurry(), atOnce))).reason).toBe('upstream');
  expect(numbers).toEqual([1, 2]);
});

it.each([
  'timeout',
  'malformed',
  'credentials',
  'quota',
  'balance',
  'blocked',
  'rejected',
  'undecided',
  'circuit_open',
  'aborted',
  'misconfigured',
] as const)('does not ask again after %s', async (reason) => {
  const { attempt, numbers } = attempts(reason);
  expect((await failureOf(withOneRetry(attempt, noHurry(), atOnce))).reason).toBe(reason);
  expect(numbers).toEqual([1]);
});

it('does not ask again after an error of ours', async () => {
  const bug = new TypeError('ours');
  const attempt = async () => {
    throw bug;
  };
  await expect(withOneRetry(attempt, noHurry(), atOnce)).rejects.toBe(bug);
});

it('does not ask again if nobody waits any more when the pause is over', async () => {
  const { attempt, numbers } = attempts('transport');
  const leaving = new AbortController();
  const asked = failureOf(withOneRetry(attempt, leaving.signal, () => 60_000));
  await Promise.resolve();
  leaving.abort();
  expect((await asked).reason).toBe('transport');
  expect(numbers).toEqual([1]);
});
