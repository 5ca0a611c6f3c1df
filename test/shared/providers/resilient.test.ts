import * as v from 'valibot';
import { ifSurelyRefused, unlessAborted } from '#shared/providers/failover.ts';
import { provider } from '#shared/providers/provider.ts';
import { type OperationPolicy, resilient } from '#shared/providers/resilient.ts';
import { type UnavailableReason, unavailable } from '#shared/providers/unavailable.ts';
import { fakeClock } from '#test/fakes/clock.ts';
import { fixedSecret } from '#test/fakes/secret.ts';
import { failureOf, noHurry } from './failure.ts';
import { quietLog } from './quiet-log.ts';

const lines = quietLog();
beforeEach(() => {
  lines.length = 0;
});

type Answer = string | UnavailableReason | { hangs: true };

const REASONS: readonly unknown[] = [
  'timeout',
  'transport',
  'upstream',
  'quota',
  'rejected',
] satisfies UnavailableReason[];

/** Two providers, `first` and `second`, that answer as a test says from one call to the next, and then `well`. */
const bench = (policy: Partial<OperationPolicy> = {}, attemptTimeoutMs = 60_000) => {
  const clock = fakeClock('2026-11-21T08:00:00Z');
  const responses: Record<string, Answer[]> = { first: [], second: [] };
  const asked: string[] = [];
  const named = (name: string) =>
    provider({
      name,
      credentials: v.object({}),
      open: () => ({
        async ask(signal: AbortSignal): Promise<string> {
          asked.push(name);
          const answer = responses[name]?.shift() ?? 'well';
          const site = { provider: name, operation: 'o' };
          if (typeof answer === 'object') {
            await new Promise((resolve) => signal.addEventListener('abort', resolve));
            throw unavailable(site, 'timeout', { refused: false });
          }
          if (REASONS.includes(answer)) {
            throw unavailable(site, answer as UnavailableReason, { refused: answer !== 'timeout' });
          }
          return answer;
        },
      }),
    });
  const operation = resilient(
    [named('first'), named('second')],
    fixedSecret(JSON.stringify({ first: {}, second: {} })),
    { clock, retryPauseMs: () => 0, attemptTimeoutMs, circuit: { failuresToOpen: 2, openMs: 10_000 } },
  )({
    operation: 'o',
    retries: true,
    attemptTimeoutMs: 1,
    mayGoOn: unlessAborted,
    outcomeOf: String,
    ...policy,
  });
  return {
    clock,
    responses,
    asked,
    ask: (signal = noHurry()) => operation(signal, (port, until) => port.ask(until)),
  };
};

const calls = () =>
  lines
    .map((line) => JSON.parse(line))
    .filter(({ event }) => event === 'provider_called')
    .map(({ provider: name, outcome, attempt }) => `${name} ${outcome} ${attempt}`);

it('asks the first provider, and counts one billed call with its outcome', async () => {
  const { ask, asked } = bench();
  expect(await ask()).toBe('well');
  expect(asked).toEqual(['first']);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    event: 'provider_called',
    provider: 'first',
    provider_operation: 'o',
    outcome: 'well',
    attempt: 1,
    duration_ms: expect.any(Number),
    ProviderCalls: 1,
  });
});

it('retries the same provider before it asks the next one, and counts every call', async () => {
  const { ask, responses } = bench();
  responses.first = ['transport', 'upstream'];
  expect(await ask()).toBe('well');
  expect(calls()).toEqual(['first transport 1', 'first upstream 2', 'second well 1']);
});

it('never retries what may not be done twice', async () => {
  const { ask, responses } = bench({ retries: false, mayGoOn: ifSurelyRefused });
  responses.first = ['timeout'];
  expect((await failureOf(ask())).reason).toBe('timeout');
  expect(calls()).toEqual(['first timeout 1']);
});

it('gives an attempt its time and no more', async () => {
  const { ask, responses } = bench({}, 20);
  responses.first = [{ hangs: true }];
  expect(await ask()).toBe('well');
  expect(calls()).toEqual(['first timeout 1', 'second well 1']);
});

it('costs a caller nothing while the circuit of a provider is open: it is not asked', async () => {
  const { ask, responses, asked } = bench();
  responses.first = ['quota', 'quota'];
  await ask();
  await ask();
  asked.length = 0;
  await ask();
  expect(asked).toEqual(['second']);
});

it('comes back to the first provider by itself when that is well again', async () => {
  const { ask, responses, asked, clock } = bench();
  responses.first = ['quota', 'quota'];
  await ask();
  await ask();
  clock.advance(10);
  asked.length = 0;
  await ask();
  await ask();
  expect(asked).toEqual(['first', 'first']);
});

it('says how long to wait when every circuit is open, and asks nobody', async () => {
  const { ask, responses, asked, clock } = bench();
  responses.first = ['quota', 'quota'];
  responses.second = ['quota', 'quota'];
  await failureOf(ask());
  await failureOf(ask());
  clock.advance(4);
  asked.length = 0;
  const { reason, refused, retryAfterSeconds } = await failureOf(ask());
  expect({ reason, refused, retryAfterSeconds, asked }).toEqual({
    reason: 'circuit_open',
    refused: true,
    retryAfterSeconds: 6,
    asked: [],
  });
});

it('asks nobody for a caller who left before anything was sent', async () => {
  const { ask, asked } = bench();
  const leaving = new AbortController();
  const asking = failureOf(ask(leaving.signal));
  leaving.abort();
  const { reason, refused } = await asking;
  expect({ reason, refused, asked, lines }).toEqual({
    reason: 'aborted',
    refused: true,
    asked: [],
    lines: [],
  });
});

it('asks nobody for a caller who leaves within the same turn of the event loop, as when the other check is refused at once', async () => {
  const { ask, asked } = bench();
  await ask();
  asked.length = 0;
  const leaving = new AbortController();
  const asking = failureOf(ask(leaving.signal));
  for (let microtask = 0; microtask < 50; microtask += 1) await Promise.resolve();
  leaving.abort();
  expect([(await asking).refused, asked]).toEqual([true, []]);
});
