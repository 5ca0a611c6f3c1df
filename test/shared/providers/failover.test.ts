import { firstAvailable, ifSurelyRefused, type MayGoOn, unlessAborted } from '#shared/providers/failover.ts';
import { type UnavailableReason, unavailable } from '#shared/providers/unavailable.ts';
import { failureOf } from './failure.ts';

type Outcome = string | { reason: UnavailableReason; refused?: boolean; retryAfterSeconds?: number };

/** Asks providers that answer (a text) or fail so; tells which were asked. */
const ask = (mayGoOn: MayGoOn, ...outcomes: Outcome[]) => {
  const asked: number[] = [];
  const calls = outcomes.map((outcome, index) => async () => {
    asked.push(index);
    if (typeof outcome === 'string') return outcome;
    const { reason, refused = false, ...rest } = outcome;
    throw unavailable({ provider: `p${index}`, operation: 'o' }, reason, { refused, ...rest });
  });
  return { asked, answer: firstAvailable(calls, mayGoOn) };
};

it('asks only the first provider if it answers, whatever it says', async () => {
  const { asked, answer } = ask(unlessAborted, 'not_matched', 'matched');
  expect([await answer, asked]).toEqual(['not_matched', [0]]);
});

it.each(['timeout', 'circuit_open', 'quota', 'rejected', 'undecided', 'misconfigured'] as const)(
  'puts an inquiry to the next provider after %s',
  async (reason) => {
    const { asked, answer } = ask(unlessAborted, { reason }, 'matched');
    expect([await answer, asked]).toEqual(['matched', [0, 1]]);
  },
);

it('asks nobody else when the caller has left', async () => {
  const { asked, answer } = ask(unlessAborted, { reason: 'aborted' }, 'matched');
  expect([(await failureOf(answer)).reason, asked]).toEqual(['aborted', [0]]);
});

it('hands a message to the next provider only if the one before surely did not take it', async () => {
  const refused = ask(ifSurelyRefused, { reason: 'balance', refused: true }, 'taken');
  expect([await refused.answer, refused.asked]).toEqual(['taken', [0, 1]]);
  const unsure = ask(ifSurelyRefused, { reason: 'timeout', refused: false }, 'taken');
  expect([(await failureOf(unsure.answer)).reason, unsure.asked]).toEqual(['timeout', [0]]);
});

it('stops at an error of ours', async () => {
  const bug = new TypeError('ours');
  const never = () => Promise.reject(new Error('asked'));
  await expect(firstAvailable([() => Promise.reject(bug), never], unlessAborted)).rejects.toBe(bug);
});

it('throws the failure of the last one asked, with the shortest wait that any named', async () => {
  const { answer } = ask(
    unlessAborted,
    { reason: 'circuit_open', retryAfterSeconds: 9 },
    { reason: 'circuit_open', retryAfterSeconds: 4 },
    { reason: 'quota', refused: true },
  );
  const { provider, reason, refused, retryAfterSeconds } = await failureOf(answer);
  expect({ provider, reason, refused, retryAfterSeconds }).toEqual({
    provider: 'p2',
    reason: 'quota',
    refused: true,
    retryAfterSeconds: 4,
  });
});
