import { circuit } from '#shared/providers/circuit.ts';
import { type UnavailableReason, unavailable } from '#shared/providers/unavailable.ts';
import { fakeClock } from '#test/fakes/clock.ts';
import { failureOf } from './failure.ts';
import { quietLog } from './quiet-log.ts';

const lines = quietLog();
beforeEach(() => {
  lines.length = 0;
});

const SITE = { provider: 'p', operation: 'o' };

const failing = (reason: UnavailableReason) => async () => {
  throw unavailable(SITE, reason, { refused: false });
};

/** A circuit that opens after three failures, for ten seconds. */
const bench = () => {
  const clock = fakeClock('2026-11-21T08:00:00Z');
  const { run } = circuit(SITE, clock, { failuresToOpen: 3, openMs: 10_000 });
  const fail = (reason: UnavailableReason = 'timeout') => failureOf(run(failing(reason)));
  const open = async () => {
    for (let failure = 0; failure < 3; failure += 1) await fail();
  };
  /** What becomes of a call: `passed`, or why it did not. */
  const state = async () => {
    let asked = false;
    const outcome = await run(async () => {
      asked = true;
    }).then(
      () => 'passed',
      (error) => error.reason,
    );
    return [outcome, asked];
  };
  return { clock, run, fail, open, state };
};

const states = () => lines.map((line) => JSON.parse(line).state);

it('lets calls through, and their results and failures as they are', async () => {
  const { run, fail } = bench();
  expect(await run(async () => 'result')).toBe('result');
  expect((await fail('quota')).reason).toBe('quota');
});

it('opens after so many failures in a row, and then asks the provider no more', async () => {
  const { open, state } = bench();
  await open();
  expect(await state()).toEqual(['circuit_open', false]);
  expect(states()).toEqual(['open']);
});

it('says, when it refuses, that nothing was sent and how long to wait', async () => {
  const { open, fail, clock } = bench();
  await open();
  clock.advance(2.5);
  const { refused, retryAfterSeconds } = await fail();
  expect({ refused, retryAfterSeconds }).toEqual({ refused: true, retryAfterSeconds: 8 });
});

it('does not open on failures between which the provider was well', async () => {
  const { fail, state } = bench();
  for (let round = 0; round < 3; round += 1) {
    await fail();
    await fail();
    expect(await state()).toEqual(['passed', true]);
  }
});

it.each([
  'timeout',
  'transport',
  'upstream',
  'malformed',
  'credentials',
  'quota',
  'balance',
  'blocked',
] as const)('opens on %s', async (reason) => {
  const { fail, state } = bench();
  for (let failure = 0; failure < 3; failure += 1) await fail(reason);
  expect(await state()).toEqual(['circuit_open', false]);
});

it.each(['rejected', 'undecided'] as const)(
  'takes %s as a sign that the provider is well',
  async (reason) => {
    const { fail, state } = bench();
    await fail();
    await fail();
    await fail(reason);
    await fail();
    expect(await state()).toEqual(['passed', true]);
  },
);

it.each(['aborted', 'misconfigured'] as const)('learns nothing of the provider from %s', async (reason) => {
  const { fail, state } = bench();
  for (let failure = 0; failure < 9; failure += 1) await fail(reason);
  await fail();
  await fail();
  await fail(reason);
  await fail();
  expect(await state()).toEqual(['circuit_open', false]);
});

it('lets one call probe after a while, and keeps the others away meanwhile', async () => {
  const { open, run, state, clock } = bench();
  await open();
  clock.advance(9.999);
  expect(await state()).toEqual(['circuit_open', false]);
  clock.advance(0.001);
  const probe = Promise.withResolvers<string>();
  const probing = run(() => probe.promise);
  expect(await state()).toEqual(['circuit_open', false]);
  probe.resolve('well');
  expect(await probing).toBe('well');
  expect(await state()).toEqual(['passed', true]);
  expect(states()).toEqual(['open', 'half_open', 'closed']);
});

it('stays open for as long again when the probe fails', async () => {
  const { open, fail, state, clock } = bench();
  await open();
  clock.advance(10);
  expect((await fail('upstream')).reason).toBe('upstream');
  clock.advance(9.999);
  expect(await state()).toEqual(['circuit_open', false]);
  clock.advance(0.001);
  expect(await state()).toEqual(['passed', true]);
  expect(states()).toEqual(['open', 'half_open', 'open', 'half_open', 'closed']);
});

it('lets the next call probe at once when a probe was called off', async () => {
  const { open, fail, state, clock } = bench();
  await open();
  clock.advance(10);
  await fail('aborted');
  expect(await state()).toEqual(['passed', true]);
});

it('is not closed by a success that began before it opened', async () => {
  const { open, run, state } = bench();
  const late = Promise.withResolvers<void>();
  const begunBefore = run(() => late.promise);
  await open();
  late.resolve();
  await begunBefore;
  expect(await state()).toEqual(['circuit_open', false]);
});

it('is not kept open, nor opened anew, by failures that began before it opened', async () => {
  const { open, run, state, clock } = bench();
  const late = Promise.withResolvers<void>();
  const later = Promise.withResolvers<void>();
  const failing = [failureOf(run(() => late.promise)), failureOf(run(() => later.promise))];
  await open();
  clock.advance(5);
  late.reject(unavailable(SITE, 'timeout', { refused: false }));
  await failing[0];
  clock.advance(5);
  expect(await state()).toEqual(['passed', true]);
  later.reject(unavailable(SITE, 'timeout', { refused: false }));
  await failing[1];
  expect(await state()).toEqual(['passed', true]);
});

it('opens once when many calls in flight fail together', async () => {
  const { fail, state } = bench();
  await Promise.all(Array.from({ length: 200 }, () => fail()));
  expect(await state()).toEqual(['circuit_open', false]);
  expect(states()).toEqual(['open']);
});
