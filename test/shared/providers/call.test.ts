import { mock } from 'node:test';
import * as v from 'valibot';
import {
  type CallOptions,
  type CallPolicy,
  callProviders,
  connectProviders,
} from '#shared/providers/call.ts';
import { provider } from '#shared/providers/provider.ts';
import {
  type Delivery,
  type Health,
  ProviderUnavailable,
  type UnavailableReason,
} from '#shared/providers/unavailable.ts';
import { runInRequest } from '#shared/request-context.ts';
import { fakeClock } from '#test/fakes/clock.ts';
import { requestUntil } from '#test/fakes/request.ts';
import { fixedSecret } from '#test/fakes/secret.ts';
import { failureOf, neverAborted, summaryOf } from './failure.ts';
import { quietLog } from './quiet-log.ts';

const lines = quietLog();
beforeEach(() => {
  lines.length = 0;
});

interface Failure {
  readonly reason: UnavailableReason;
  readonly delivery?: Delivery;
  readonly health?: Health;
  readonly retryAfterSeconds?: number;
}

/** What a provider does with one call: it returns a text, fails, hangs until the attempt times out, or meets a defect. */
type Outcome = string | Failure | 'hangs' | Error;

const perform = async (name: string, outcome: Outcome, signal: AbortSignal): Promise<string> => {
  const site = { provider: name, operation: 'o' };
  if (outcome === 'hangs') {
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    throw new ProviderUnavailable(site, 'timeout', { delivery: 'possibly_sent' });
  }
  if (typeof outcome === 'string') return outcome;
  if (outcome instanceof Error) throw outcome;
  throw new ProviderUnavailable(site, outcome.reason, { delivery: 'not_sent', ...outcome });
};

type Policy = CallPolicy<'inquire', string>;

const POLICY: Policy = {
  port: 'identity-registry',
  method: 'inquire',
  operation: 'o',
  mayRepeat: true,
  attemptTimeoutMs: 6000,
  outcomeOf: String,
};

/** Two providers, `first` and `second`. Each gives the responses that a test sets, one after another, and then `matched`. */
const twoProviders = (policy: Partial<Policy> = {}, options: CallOptions = {}, order?: unknown) => {
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
  const providers = connectProviders(
    [named('first'), named('second')],
    fixedSecret(JSON.stringify({ first: {}, second: {}, order })),
    {
      clock,
      retryPauseMs: () => 0,
      timeoutSignal: neverAborted,
      circuit: { failuresToOpen: 2, openMs: 10_000 },
      ...options,
    },
  );
  const inquire = (signal = neverAborted()) =>
    callProviders(providers, { policy: { ...POLICY, ...policy }, args: [], signal });
  return { clock, outcomes, called, inquire };
};

const MESSAGE = { mayRepeat: false };
const QUOTA: Failure = { reason: 'quota' };
/** Opens the circuit and is not retried. */
const DOWN: Failure = { reason: 'malformed' };

/** The logged calls: provider, outcome and number of the attempt. */
const loggedCalls = () =>
  lines
    .map((line) => JSON.parse(line))
    .filter(({ event }) => event === 'provider_called')
    .map(({ provider: name, outcome, attempt }) => `${name} ${outcome} ${attempt}`);

describe('a call', () => {
  it('goes to the first provider, and is logged as one billed call with its outcome', async () => {
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

  it('goes first to the provider that the secret puts first, and to the others in the order of the stage', async () => {
    const firstOf = async (order: unknown) => {
      const { inquire, called } = twoProviders({}, {}, order);
      await inquire();
      return called[0];
    };
    expect(await firstOf(['second', 'first'])).toBe('second');
    expect(await firstOf(['other', 'second'])).toBe('second');
    for (const order of [['other'], [], ['first', 'second'], 'second', [2], undefined]) {
      expect([order, await firstOf(order)]).toEqual([order, 'first']);
    }
  });

  it('is logged with the id of its request, and its milliseconds for the completion line', async () => {
    const { inquire, outcomes } = twoProviders();
    outcomes.first = [QUOTA];
    const request = requestUntil();
    await runInRequest(request, () => inquire());
    expect(lines.map((line) => JSON.parse(line).request_id)).toEqual(Array(4).fill('req-1'));
    expect(request.calls).toEqual([
      { target: 'first:o', ms: expect.any(Number) },
      { target: 'second:o', ms: expect.any(Number) },
    ]);
  });

  it('ends an attempt after the timeout of the operation, and goes to the next provider', async () => {
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

  it('reaches no provider when the signal aborts within the same turn of the event loop, as the other check of a person can do', async () => {
    const { inquire, called } = twoProviders();
    const caller = new AbortController();
    const inquiring = failureOf(inquire(caller.signal));
    for (let microtask = 0; microtask < 50; microtask += 1) await Promise.resolve();
    caller.abort();
    expect(summaryOf(await inquiring)).toBe('aborted, not_reached, unknown');
    expect([called, lines]).toEqual([[], []]);
  });

  it('throws an error of our own code as it is: no retry, no failover, and the circuit does not count it', async () => {
    const { inquire, outcomes, called } = twoProviders();
    const defect = new TypeError('our own error');
    outcomes.first = [defect, defect, defect];
    for (let call = 0; call < 3; call += 1) await expect(inquire()).rejects.toBe(defect);
    expect([await inquire(), called]).toEqual(['matched', ['first', 'first', 'first', 'first']]);
    expect(loggedCalls()[0]).toBe('first error 1');
  });

  it('fails when no provider is configured', async () => {
    const none = connectProviders<{ inquire(signal: AbortSignal): Promise<string> }>([], fixedSecret('{}'));
    const call = callProviders(none, { policy: POLICY, args: [], signal: neverAborted() });
    await expect(call).rejects.toThrow('no provider is configured');
  });
});

describe('the retry', () => {
  it('attempts an inquiry once more after a failure that a second attempt can avoid', async () => {
    const { inquire, outcomes } = twoProviders();
    outcomes.first = [{ reason: 'transport' }];
    expect(await inquire()).toBe('matched');
    expect(loggedCalls()).toEqual(['first transport 1', 'first matched 2']);
  });

  it('makes no third attempt, but calls the next provider, and logs every call', async () => {
    const { inquire, outcomes } = twoProviders();
    outcomes.first = [{ reason: 'transport' }, { reason: 'upstream' }];
    expect(await inquire()).toBe('matched');
    expect(loggedCalls()).toEqual(['first transport 1', 'first upstream 2', 'second matched 1']);
  });

  it('counts both attempts of a call as one failure for the circuit', async () => {
    const { inquire, outcomes, called } = twoProviders();
    outcomes.first = [{ reason: 'transport' }, { reason: 'transport' }];
    await inquire();
    called.length = 0;
    await inquire();
    expect(called).toEqual(['first']);
  });

  it.each([
    'timeout',
    'malformed',
    'no_verdict',
    'credentials',
    'quota',
    'balance',
    'blocked',
    'rejected',
    'rejected_number',
    'undecided',
    'misconfigured',
  ] as const)('is not made after %s: the inquiry goes to the next provider', async (reason) => {
    const { inquire, outcomes, called } = twoProviders();
    outcomes.first = [{ reason }];
    expect([await inquire(), called]).toEqual(['matched', ['first', 'second']]);
  });

  it('is not made when the signal aborts during the pause', async () => {
    const paused = Promise.withResolvers<void>();
    const retryPauseMs = () => {
      paused.resolve();
      return 60_000;
    };
    const { inquire, outcomes, called } = twoProviders({}, { retryPauseMs });
    outcomes.first = [{ reason: 'transport' }];
    const caller = new AbortController();
    const calling = failureOf(inquire(caller.signal));
    await paused.promise;
    caller.abort();
    expect([(await calling).reason, called]).toEqual(['aborted', ['first']]);
  });
});

describe('the circuit', () => {
  it('keeps calls from a provider that fails', async () => {
    const { inquire, outcomes, called } = twoProviders();
    outcomes.first = [DOWN, DOWN];
    await inquire();
    await inquire();
    called.length = 0;
    await inquire();
    expect(called).toEqual(['second']);
  });

  it('measures its open time with a monotonic clock: setting the system time back does not prolong it', async () => {
    const monotonic = mock.method(performance, 'now', () => 1000);
    const wallTimeMs = Date.now();
    const wall = mock.method(Date, 'now', () => wallTimeMs);
    try {
      const { inquire, outcomes, called } = twoProviders({}, { clock: undefined });
      outcomes.first = [DOWN, DOWN];
      await inquire();
      await inquire();
      wall.mock.mockImplementation(() => wallTimeMs - 3_600_000);
      monotonic.mock.mockImplementation(() => 11_000);
      called.length = 0;
      await inquire();
      expect(called).toEqual(['first']);
    } finally {
      mock.restoreAll();
    }
  });

  it('names the time to wait when the circuits of all providers are open, and no provider is called', async () => {
    const { inquire, outcomes, called, clock } = twoProviders();
    outcomes.first = [DOWN, DOWN];
    outcomes.second = [DOWN, DOWN];
    await failureOf(inquire());
    await failureOf(inquire());
    clock.advance(4);
    called.length = 0;
    expect(await failureOf(inquire())).toMatchObject({
      reason: 'circuit_open',
      delivery: 'not_reached',
      retryAfterSeconds: 6,
    });
    expect(called).toEqual([]);
  });
});

describe('the line of a call of a port', () => {
  /** Of each call: whether no provider gave a result, and whether the next one gave it. */
  const portCalls = () =>
    lines
      .map((line) => JSON.parse(line))
      .filter(({ event }) => event === 'port_called')
      .map(({ port, ProvidersUnavailable, ProviderTakeovers }) => [
        port,
        ProvidersUnavailable,
        ProviderTakeovers,
      ]);

  it('counts a result of the first provider with 0 twice, so that both averages are shares of the calls', async () => {
    await twoProviders({ port: 'sms' }).inquire();
    expect(portCalls()).toEqual([['sms', 0, 0]]);
  });

  it('counts a result of the next provider as taken over, also while the circuit of the first is open', async () => {
    const { inquire, outcomes, called } = twoProviders();
    outcomes.first = [DOWN, DOWN];
    for (let call = 0; call < 3; call += 1) await inquire();
    expect(called).toEqual(['first', 'second', 'first', 'second', 'second']);
    expect(portCalls()).toEqual(Array(3).fill(['identity-registry', 0, 1]));
  });

  it.each(['rejected', 'rejected_number', 'undecided'] as const)(
    'does not count a result of the next provider as taken over after %s, which is about one person or phone',
    async (reason) => {
      const { inquire, outcomes } = twoProviders();
      outcomes.first = [{ reason }];
      await inquire();
      expect(portCalls()).toEqual([['identity-registry', 0, 0]]);
    },
  );

  it('counts a call once as unavailable when every provider failed', async () => {
    const { inquire, outcomes } = twoProviders();
    outcomes.first = [QUOTA];
    outcomes.second = [QUOTA];
    await failureOf(inquire());
    expect(portCalls()).toEqual([['identity-registry', 1, 0]]);
  });

  it.each([
    ['first', 'rejected_number', 'quota'],
    ['next', 'quota', 'rejected_number'],
  ] as const)(
    'does not count a call as unavailable whose number the %s provider rejected',
    async (_which, first, second) => {
      const { inquire, outcomes } = twoProviders(MESSAGE);
      outcomes.first = [{ reason: first, delivery: 'not_sent' }];
      outcomes.second = [{ reason: second, delivery: 'not_sent' }];
      await failureOf(inquire());
      expect(portCalls()).toEqual([['identity-registry', 0, 0]]);
    },
  );

  it('does not count a call that its caller gave up', async () => {
    const { inquire, outcomes } = twoProviders();
    outcomes.first = [{ reason: 'aborted' }];
    await failureOf(inquire());
    expect(portCalls()).toEqual([]);
  });
});

describe('the failures of a provider', () => {
  /** The logged failures: provider and reason. */
  const loggedFailures = () =>
    lines
      .map((line) => JSON.parse(line))
      .filter(({ event }) => event === 'provider_failed')
      .map(({ provider: name, provider_operation, reason }) => `${name} ${provider_operation} ${reason}`);

  it.each<[UnavailableReason, Health, string[]]>([
    ['malformed', 'down', ['unreadable']],
    ['no_verdict', 'unknown', ['unreadable']],
    ['no_verdict', 'up', ['unreadable']],
    ['credentials', 'up', ['credentials']],
    ['credentials', 'unknown', ['credentials']],
    ['blocked', 'up', ['blocked']],
    ['quota', 'up', ['quota']],
    ['balance', 'up', ['balance']],
    // An upstream error with a code of the provider; the circuit counts one without, and timeouts.
    ['upstream', 'up', ['upstream']],
    ['upstream', 'down', []],
    ['timeout', 'down', []],
    // These are about the request.
    ['rejected', 'up', []],
    ['rejected_number', 'up', []],
    ['undecided', 'up', []],
  ])(
    'counts %s (%s) as %j, once for a call and its retry, also if the next provider takes over',
    async (reason, health, reasons) => {
      const { inquire, outcomes } = twoProviders();
      outcomes.first = [
        { reason, health },
        { reason, health },
      ];
      expect(await inquire()).toBe('matched');
      expect(loggedFailures()).toEqual(reasons.map((logged) => `first o ${logged}`));
    },
  );

  it('does not count a failure after which the retry succeeds', async () => {
    const { inquire, outcomes } = twoProviders();
    outcomes.first = [{ reason: 'upstream', health: 'up' }];
    await inquire();
    expect(loggedFailures()).toEqual([]);
  });

  it('counts failures that the circuit counts by its opening', async () => {
    const { inquire, outcomes } = twoProviders();
    outcomes.first = [{ reason: 'timeout' }, { reason: 'timeout' }];
    await inquire();
    expect(loggedFailures()).toEqual([]);
    await inquire();
    expect(loggedFailures()).toEqual(['first o circuit_open']);
  });

  it('counts both providers of a message that neither sent', async () => {
    const { inquire, outcomes } = twoProviders(MESSAGE);
    outcomes.first = [{ reason: 'balance', health: 'up' }];
    outcomes.second = [{ reason: 'blocked', health: 'up' }];
    await failureOf(inquire());
    expect(loggedFailures()).toEqual(['first o balance', 'second o blocked']);
  });
});

describe('the failover', () => {
  it('ends when the caller no longer waits', async () => {
    const { inquire, outcomes, called } = twoProviders();
    outcomes.first = [{ reason: 'aborted' }];
    expect([(await failureOf(inquire())).reason, called]).toEqual(['aborted', ['first']]);
  });

  it.each([
    ['not_sent', 'not_reached', 'not_sent'],
    ['not_reached', 'not_sent', 'not_sent'],
    ['not_reached', 'not_reached', 'not_reached'],
    ['not_sent', 'possibly_sent', 'possibly_sent'],
  ] as const)('of a message that was %s and then %s ends as %s', async (first, second, delivery) => {
    const { inquire, outcomes } = twoProviders(MESSAGE);
    outcomes.first = [{ reason: 'rejected', delivery: first }];
    outcomes.second = [{ reason: 'transport', delivery: second }];
    expect(await failureOf(inquire())).toMatchObject({ provider: 'second', reason: 'transport', delivery });
  });

  it('says that an inquiry was possibly sent when its first attempt was and its retry got no connection', async () => {
    const { inquire, outcomes } = twoProviders();
    outcomes.first = [
      { reason: 'transport', delivery: 'possibly_sent' },
      { reason: 'transport', delivery: 'not_reached' },
    ];
    outcomes.second = [{ reason: 'timeout', delivery: 'not_reached' }];
    expect(await failureOf(inquire())).toMatchObject({ provider: 'second', delivery: 'possibly_sent' });
  });

  it('sends a message once by the next provider after the time for a connection ran out', async () => {
    const { inquire, outcomes, called } = twoProviders(MESSAGE);
    outcomes.first = [{ reason: 'timeout', delivery: 'not_reached' }];
    expect([await inquire(), called]).toEqual(['matched', ['first', 'second']]);
  });

  it('never sends a message that was possibly sent, not even once more to the same provider', async () => {
    const { inquire, outcomes, called } = twoProviders(MESSAGE);
    outcomes.first = [{ reason: 'transport', delivery: 'possibly_sent' }];
    expect([(await failureOf(inquire())).reason, called]).toEqual(['transport', ['first']]);
  });

  it.each([
    ['timeout', 'circuit_open', 'timeout'],
    ['timeout', 'misconfigured', 'timeout'],
    ['circuit_open', 'quota', 'quota'],
    ['circuit_open', 'misconfigured', 'misconfigured'],
    ['misconfigured', 'circuit_open', 'circuit_open'],
  ] as const)(
    'throws for %s and then %s the failure of the last provider that was called, if any: %s',
    async (first, second, thrown) => {
      const { inquire, outcomes } = twoProviders();
      outcomes.first = [{ reason: first }];
      outcomes.second = [{ reason: second }];
      expect((await failureOf(inquire())).reason).toBe(thrown);
    },
  );

  it('throws the failure of the last provider called, with the shortest wait of all', async () => {
    const { inquire, outcomes } = twoProviders();
    outcomes.first = [{ reason: 'circuit_open', retryAfterSeconds: 9 }];
    outcomes.second = [{ reason: 'quota', retryAfterSeconds: 12 }];
    expect(await failureOf(inquire())).toMatchObject({
      provider: 'second',
      operation: 'o',
      reason: 'quota',
      delivery: 'not_sent',
      retryAfterSeconds: 9,
    });
  });
});
