import { type CircuitOptions, circuit } from '#shared/providers/circuit.ts';
import { type Health, ProviderUnavailable, type UnavailableReason } from '#shared/providers/unavailable.ts';
import { runInRequest } from '#shared/request-context.ts';
import { fakeClock } from '#test/fakes/clock.ts';
import { requestUntil } from '#test/fakes/request.ts';
import { failureOf } from './failure.ts';
import { quietLog } from './quiet-log.ts';

const lines = quietLog();
beforeEach(() => {
  lines.length = 0;
});

const SITE = { provider: 'p', operation: 'o' };

const failure = (reason: UnavailableReason, health?: Health) =>
  new ProviderUnavailable(SITE, reason, { delivery: 'possibly_sent', ...(health && { health }) });

/** A circuit that opens for ten seconds after three failures, unless other options are given. */
const newCircuit = (options: CircuitOptions = { failuresToOpen: 3, openMs: 10_000 }) => {
  const clock = fakeClock('2026-11-21T08:00:00Z');
  const { enter, leave } = circuit(SITE, clock, options);
  /** Makes a call within the circuit. */
  const run = async <T>(call: () => Promise<T>): Promise<T> => {
    const entered = enter();
    if (entered instanceof ProviderUnavailable) throw entered;
    const [ended] = await Promise.allSettled([call()]);
    if (ended.status === 'fulfilled') {
      leave(entered, undefined);
      return ended.value;
    }
    leave(entered, ended.reason);
    throw ended.reason;
  };
  const fail = (reason: UnavailableReason = 'timeout', health?: Health) =>
    failureOf(run(() => Promise.reject(failure(reason, health))));
  const open = async () => {
    for (let failure = 0; failure < 3; failure += 1) await fail();
  };
  /** Returns `passed` or the reason of the failure of a call, and whether the provider was called. */
  const tryCall = async () => {
    let called = false;
    const outcome = await run(async () => {
      called = true;
    }).then(
      () => 'passed',
      (error) => error.reason,
    );
    return [outcome, called];
  };
  return { clock, run, fail, open, tryCall };
};

/** The number of times that the circuit was logged as opened. */
const openings = () => lines.filter((line) => JSON.parse(line).reason === 'circuit_open').length;

describe('circuit', () => {
  it('opens after five failures for ten seconds in a deployment', async () => {
    const { fail, tryCall, clock } = newCircuit({});
    for (let failure = 0; failure < 4; failure += 1) await fail();
    expect((await fail()).reason).toBe('timeout');
    clock.advance(9.999);
    expect(await tryCall()).toEqual(['circuit_open', false]);
    clock.advance(0.001);
    expect(await tryCall()).toEqual(['passed', true]);
  });

  it('never names a wait longer than its open time, even if the clock is set back', async () => {
    const { open, fail, clock } = newCircuit();
    await open();
    clock.advance(-3600);
    expect((await fail()).retryAfterSeconds).toBe(10);
  });

  it('logs that it opens, once, as a failure of the provider, with the id of the request that caused it', async () => {
    const { open } = newCircuit();
    const request = requestUntil();
    await runInRequest(request, open);
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({
        event: 'provider_failed',
        request_id: 'req-1',
        provider: 'p',
        provider_operation: 'o',
        reason: 'circuit_open',
      }),
    ]);
  });

  it('rejects a call as not reached, with the time to wait, while it is open', async () => {
    const { open, fail, clock } = newCircuit();
    await open();
    clock.advance(2.5);
    expect(await fail()).toMatchObject({ delivery: 'not_reached', retryAfterSeconds: 8 });
  });

  it('does not open on failures that are not consecutive', async () => {
    const { fail, tryCall } = newCircuit();
    for (let round = 0; round < 3; round += 1) {
      await fail();
      await fail();
      expect(await tryCall()).toEqual(['passed', true]);
    }
  });

  it.each(['timeout', 'transport', 'upstream', 'malformed'] as const)('opens on %s', async (reason) => {
    const { fail, tryCall } = newCircuit();
    for (let failure = 0; failure < 3; failure += 1) await fail(reason);
    expect(await tryCall()).toEqual(['circuit_open', false]);
  });

  it.each(['upstream', 'balance', 'credentials', 'no_verdict'] as const)(
    'counts %s in the documented form as a response: the provider is up',
    async (reason) => {
      const { fail, tryCall } = newCircuit();
      await fail();
      await fail();
      await fail(reason, 'up');
      await fail();
      await fail();
      expect(await tryCall()).toEqual(['passed', true]);
    },
  );

  it.each(['no_verdict', 'credentials', 'quota', 'blocked', 'aborted', 'misconfigured'] as const)(
    'counts %s without a documented form neither as a failure nor as a response',
    async (reason) => {
      const { fail, tryCall } = newCircuit();
      for (let failure = 0; failure < 9; failure += 1) await fail(reason);
      expect(await tryCall()).toEqual(['passed', true]);
      await fail();
      await fail();
      await fail(reason);
      await fail();
      expect(await tryCall()).toEqual(['circuit_open', false]);
    },
  );

  it('is closed by a probe that gets an error in the documented form', async () => {
    const { open, fail, tryCall, clock } = newCircuit();
    await open();
    clock.advance(10);
    await fail('balance', 'up');
    expect(await tryCall()).toEqual(['passed', true]);
    expect(await tryCall()).toEqual(['passed', true]);
  });

  it('lets one call probe after ten seconds, and rejects the others meanwhile', async () => {
    const { open, run, tryCall, clock } = newCircuit();
    await open();
    clock.advance(9.999);
    expect(await tryCall()).toEqual(['circuit_open', false]);
    clock.advance(0.001);
    const probe = Promise.withResolvers<string>();
    const probing = run(() => probe.promise);
    expect(await tryCall()).toEqual(['circuit_open', false]);
    probe.resolve('result');
    expect(await probing).toBe('result');
    expect(await Promise.all([tryCall(), tryCall()])).toEqual(Array(2).fill(['passed', true]));
    expect(openings()).toBe(1);
  });

  it('lets another call probe ten seconds after a probe that never ends, and ignores the late end of that one', async () => {
    const { open, run, fail, tryCall, clock } = newCircuit();
    await open();
    clock.advance(10);
    const hanging = Promise.withResolvers<void>();
    const first = run(() => hanging.promise);
    clock.advance(9.999);
    expect((await fail()).retryAfterSeconds).toBe(1);
    clock.advance(0.001);
    await fail();
    hanging.resolve();
    await first;
    expect(await tryCall()).toEqual(['circuit_open', false]);
    expect(openings()).toBe(2);
  });

  it('opens for another ten seconds when the probe fails', async () => {
    const { open, fail, tryCall, clock } = newCircuit();
    await open();
    clock.advance(10);
    expect((await fail('upstream')).reason).toBe('upstream');
    clock.advance(9.999);
    expect(await tryCall()).toEqual(['circuit_open', false]);
    clock.advance(0.001);
    expect(await tryCall()).toEqual(['passed', true]);
    expect(openings()).toBe(2);
  });

  it('lets the next call probe at once when a probe was aborted', async () => {
    const { open, fail, tryCall, clock } = newCircuit();
    await open();
    clock.advance(10);
    await fail('aborted');
    expect(openings()).toBe(1);
    expect(await tryCall()).toEqual(['passed', true]);
  });

  it('is not closed by the success of a call that began before it opened', async () => {
    const { open, run, tryCall } = newCircuit();
    const late = Promise.withResolvers<void>();
    const begunBefore = run(() => late.promise);
    await open();
    late.resolve();
    await begunBefore;
    expect(await tryCall()).toEqual(['circuit_open', false]);
  });

  it('is not opened again by the failures of calls that began before it opened', async () => {
    const { open, run, tryCall, clock } = newCircuit();
    const late = Promise.withResolvers<void>();
    const later = Promise.withResolvers<void>();
    const failing = [failureOf(run(() => late.promise)), failureOf(run(() => later.promise))];
    await open();
    clock.advance(5);
    late.reject(failure('timeout'));
    await failing[0];
    clock.advance(5);
    expect(await tryCall()).toEqual(['passed', true]);
    later.reject(failure('timeout'));
    await failing[1];
    expect(await tryCall()).toEqual(['passed', true]);
  });
});
