import { jest } from '@jest/globals';
import * as v from 'valibot';
import { provider } from '#shared/providers/provider.ts';
import { type OperationPolicy, type ResilienceOptions, resilient } from '#shared/providers/resilient.ts';
import { ProviderUnavailable, type UnavailableReason } from '#shared/providers/unavailable.ts';
import { runInRequest } from '#shared/request-context.ts';
import { fakeClock } from '#test/fakes/clock.ts';
import { fixedSecret } from '#test/fakes/secret.ts';
import { failureOf, neverAborted } from './failure.ts';
import { quietLog } from './quiet-log.ts';

const lines = quietLog();
beforeEach(() => {
  lines.length = 0;
});

const REASONS: readonly unknown[] = [
  'timeout',
  'transport',
  'upstream',
  'quota',
  'rejected',
] satisfies UnavailableReason[];

/** What a provider does with one call: it fails with a reason, hangs until the attempt times out, or returns a text. */
type Outcome = UnavailableReason | 'hangs' | (string & {});

const perform = async (name: string, outcome: Outcome, signal: AbortSignal): Promise<string> => {
  const site = { provider: name, operation: 'o' };
  if (outcome === 'hangs') {
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    throw new ProviderUnavailable(site, 'timeout', { delivery: 'possibly_sent' });
  }
  if (!REASONS.includes(outcome)) return outcome;
  const delivery = outcome === 'timeout' ? 'possibly_sent' : 'not_sent';
  throw new ProviderUnavailable(site, outcome as UnavailableReason, { delivery });
};

/** Two providers, `first` and `second`. Each gives the responses that a test sets, one after another, and then `matched`. */
const twoProviders = (policy: Partial<OperationPolicy> = {}, options: ResilienceOptions = {}) => {
  const clock = fakeClock('2026-11-21T08:00:00Z');
  const outcomes: Record<string, Outcome[]> = { first: [], second: [] };
  const called: string[] = [];
  const named = (name: string) =>
    provider({
      name,
      credentials: v.object({}),
      open: () => ({
        inquire(signal: AbortSignal): Promise<string> {
          called.push(name);
          return perform(name, outcomes[name]?.shift() ?? 'matched', signal);
        },
      }),
    });
  const operation = resilient(
    [named('first'), named('second')],
    fixedSecret(JSON.stringify({ first: {}, second: {} })),
    {
      clock,
      retryPauseMs: () => 0,
      timeoutSignal: neverAborted,
      circuit: { failuresToOpen: 2, openMs: 10_000 },
      ...options,
    },
  )({
    operation: 'o',
    mayRepeat: true,
    attemptTimeoutMs: 6000,
    outcomeOf: String,
    ...policy,
  });
  const inquire = (signal = neverAborted()) =>
    operation(signal, (port, attemptSignal) => port.inquire(attemptSignal));
  return { clock, outcomes, called, inquire };
};

/** The logged calls: provider, outcome and number of the attempt. */
const loggedCalls = () =>
  lines
    .map((line) => JSON.parse(line))
    .filter(({ event }) => event === 'provider_called')
    .map(({ provider: name, outcome, attempt }) => `${name} ${outcome} ${attempt}`);

describe('resilient', () => {
  it('calls the first provider, and logs one billed call with its outcome', async () => {
    const { inquire, called } = twoProviders();
    expect(await inquire()).toBe('matched');
    expect(called).toEqual(['first']);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      event: 'provider_called',
      provider: 'first',
      provider_operation: 'o',
      outcome: 'matched',
      attempt: 1,
      duration_ms: expect.any(Number),
      ProviderCalls: 1,
    });
  });

  it('logs each call with the id of its request, and its milliseconds for the completion line', async () => {
    const { inquire, outcomes } = twoProviders();
    outcomes.first = ['quota'];
    const request = { requestId: 'req-1', operation: 'create-user', signal: neverAborted(), calls: [] };
    await runInRequest(request, () => inquire());
    expect(lines.map((line) => JSON.parse(line).request_id)).toEqual(['req-1', 'req-1']);
    expect(request.calls).toEqual([
      { target: 'first:o', ms: expect.any(Number) },
      { target: 'second:o', ms: expect.any(Number) },
    ]);
  });

  it('retries the same provider before it calls the next one, and logs every call', async () => {
    const { inquire, outcomes } = twoProviders();
    outcomes.first = ['transport', 'upstream'];
    expect(await inquire()).toBe('matched');
    expect(loggedCalls()).toEqual(['first transport 1', 'first upstream 2', 'second matched 1']);
  });

  it('never retries a call that must not be repeated', async () => {
    const { inquire, outcomes } = twoProviders({ mayRepeat: false });
    outcomes.first = ['timeout'];
    expect((await failureOf(inquire())).reason).toBe('timeout');
    expect(loggedCalls()).toEqual(['first timeout 1']);
  });

  it('aborts an attempt after the timeout of the operation, and calls the next provider', async () => {
    const timeouts: { readonly ms: number; readonly attempt: AbortController }[] = [];
    const timeoutSignal = (ms: number) => {
      const attempt = new AbortController();
      timeouts.push({ ms, attempt });
      return attempt.signal;
    };
    const { inquire, outcomes, called } = twoProviders({}, { timeoutSignal });
    outcomes.first = ['hangs'];
    const inquiring = inquire();
    await inquire();
    expect(called).toEqual(['first', 'first']);
    timeouts[0]?.attempt.abort();
    expect(await inquiring).toBe('matched');
    expect(timeouts.map(({ ms }) => ms)).toEqual([6000, 6000, 6000]);
    expect(loggedCalls()).toEqual(['first matched 1', 'first timeout 1', 'second matched 1']);
  });

  it('does not call a provider whose circuit is open', async () => {
    const { inquire, outcomes, called } = twoProviders();
    outcomes.first = ['quota', 'quota'];
    await inquire();
    await inquire();
    called.length = 0;
    await inquire();
    expect(called).toEqual(['second']);
  });

  it('returns to the first provider when it is up again', async () => {
    const { inquire, outcomes, called, clock } = twoProviders();
    outcomes.first = ['quota', 'quota'];
    await inquire();
    await inquire();
    clock.advance(10);
    called.length = 0;
    await inquire();
    await inquire();
    expect(called).toEqual(['first', 'first']);
  });

  it('measures the open time with a monotonic clock: setting the system time back does not prolong it', async () => {
    const monotonic = jest.spyOn(performance, 'now').mockReturnValue(1000);
    const wallTimeMs = Date.now();
    const wall = jest.spyOn(Date, 'now').mockReturnValue(wallTimeMs);
    try {
      const { inquire, outcomes, called } = twoProviders({}, { clock: undefined });
      outcomes.first = ['quota', 'quota'];
      await inquire();
      await inquire();
      wall.mockReturnValue(wallTimeMs - 3_600_000);
      monotonic.mockReturnValue(11_000);
      called.length = 0;
      await inquire();
      expect(called).toEqual(['first']);
    } finally {
      jest.restoreAllMocks();
    }
  });

  it('throws the time to wait, and calls no provider, when every circuit is open', async () => {
    const { inquire, outcomes, called, clock } = twoProviders();
    outcomes.first = ['quota', 'quota'];
    outcomes.second = ['quota', 'quota'];
    await failureOf(inquire());
    await failureOf(inquire());
    clock.advance(4);
    called.length = 0;
    expect(await failureOf(inquire())).toMatchObject({
      reason: 'circuit_open',
      delivery: 'not_sent',
      retryAfterSeconds: 6,
    });
    expect(called).toEqual([]);
  });

  it('calls no provider when the signal aborts before anything is sent', async () => {
    const { inquire, called } = twoProviders();
    const caller = new AbortController();
    const inquiring = failureOf(inquire(caller.signal));
    caller.abort();
    expect(await inquiring).toMatchObject({ reason: 'aborted', delivery: 'not_sent' });
    expect([called, lines]).toEqual([[], []]);
  });

  it('calls no provider when the signal aborts within the same turn of the event loop, as the other check of a person can do', async () => {
    const { inquire, called } = twoProviders();
    await inquire();
    called.length = 0;
    const caller = new AbortController();
    const inquiring = failureOf(inquire(caller.signal));
    for (let microtask = 0; microtask < 50; microtask += 1) await Promise.resolve();
    caller.abort();
    expect([(await inquiring).delivery, called]).toEqual(['not_sent', []]);
  });
});
