import { firstAvailable, withOneRetry } from '#shared/providers/retry-and-failover.ts';
import { type Delivery, ProviderUnavailable, type UnavailableReason } from '#shared/providers/unavailable.ts';
import { failureOf, neverAborted } from './failure.ts';

const failure = (reason: UnavailableReason) =>
  new ProviderUnavailable({ provider: 'p', operation: 'o' }, reason, { delivery: 'possibly_sent' });

const bug = new TypeError('our own error');

describe('withOneRetry', () => {
  /** Attempts that fail with these reasons, one after another, and then succeed. */
  const attempts = (...reasons: UnavailableReason[]) => {
    const numbers: number[] = [];
    const attempt = async (number: number) => {
      numbers.push(number);
      const reason = reasons.shift();
      if (reason !== undefined) throw failure(reason);
      return 'result';
    };
    return { numbers, attempt };
  };

  const noPause = () => 0;

  it('attempts a successful call once', async () => {
    const { attempt, numbers } = attempts();
    expect(await withOneRetry(attempt, neverAborted(), noPause)).toBe('result');
    expect(numbers).toEqual([1]);
  });

  it.each(['transport', 'upstream'] as const)('attempts the call once more after %s', async (reason) => {
    const { attempt, numbers } = attempts(reason);
    expect(await withOneRetry(attempt, neverAborted(), noPause)).toBe('result');
    expect(numbers).toEqual([1, 2]);
  });

  it('makes no third attempt', async () => {
    const { attempt, numbers } = attempts('transport', 'upstream');
    expect((await failureOf(withOneRetry(attempt, neverAborted(), noPause))).reason).toBe('upstream');
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
  ] as const)('does not retry after %s', async (reason) => {
    const { attempt, numbers } = attempts(reason);
    expect((await failureOf(withOneRetry(attempt, neverAborted(), noPause))).reason).toBe(reason);
    expect(numbers).toEqual([1]);
  });

  it('does not retry after an error of our own code', async () => {
    const attempt = async () => {
      throw bug;
    };
    await expect(withOneRetry(attempt, neverAborted(), noPause)).rejects.toBe(bug);
  });

  it('does not retry when the signal aborts during the pause', async () => {
    const { attempt, numbers } = attempts('transport');
    const caller = new AbortController();
    const calling = failureOf(withOneRetry(attempt, caller.signal, () => 60_000));
    await Promise.resolve();
    caller.abort();
    expect((await calling).reason).toBe('transport');
    expect(numbers).toEqual([1]);
  });
});

describe('firstAvailable', () => {
  /** Whether a call may be repeated. */
  const INQUIRY = true;
  const MESSAGE = false;

  type Outcome = string | { reason: UnavailableReason; delivery?: Delivery; retryAfterSeconds?: number };

  /** Calls providers p0, p1, … that return a text or fail, and records which were called. */
  const callAll = (mayRepeat: boolean, ...outcomes: Outcome[]) => {
    const called: number[] = [];
    const calls = outcomes.map((outcome, index) => async () => {
      called.push(index);
      if (typeof outcome === 'string') return outcome;
      const { reason, delivery = 'possibly_sent', retryAfterSeconds } = outcome;
      const site = { provider: `p${index}`, operation: 'o' };
      throw new ProviderUnavailable(site, reason, { delivery, retryAfterSeconds });
    });
    return { called, result: firstAvailable(calls, mayRepeat) };
  };

  it('calls only the first provider if it returns a verdict', async () => {
    const { called, result } = callAll(INQUIRY, 'not_matched', 'matched');
    expect([await result, called]).toEqual(['not_matched', [0]]);
  });

  it.each(['timeout', 'circuit_open', 'quota', 'rejected', 'undecided', 'misconfigured'] as const)(
    'sends an inquiry to the next provider after %s',
    async (reason) => {
      const { called, result } = callAll(INQUIRY, { reason }, 'matched');
      expect([await result, called]).toEqual(['matched', [0, 1]]);
    },
  );

  it('calls no other provider when the caller no longer waits', async () => {
    const { called, result } = callAll(INQUIRY, { reason: 'aborted' }, 'matched');
    expect([(await failureOf(result)).reason, called]).toEqual(['aborted', [0]]);
  });

  it('sends a message with the next provider only if the first did not send it', async () => {
    const notSent = callAll(MESSAGE, { reason: 'balance', delivery: 'not_sent' }, 'accepted');
    expect([await notSent.result, notSent.called]).toEqual(['accepted', [0, 1]]);
    const possiblySent = callAll(MESSAGE, { reason: 'timeout', delivery: 'possibly_sent' }, 'accepted');
    expect([(await failureOf(possiblySent.result)).reason, possiblySent.called]).toEqual(['timeout', [0]]);
  });

  it('throws an error of our own code without calling the next provider', async () => {
    const neverCalled = () => Promise.reject(new Error('called'));
    await expect(firstAvailable([() => Promise.reject(bug), neverCalled], INQUIRY)).rejects.toBe(bug);
  });

  it.each([
    [['timeout', 'circuit_open'], 'timeout'],
    [['timeout', 'misconfigured'], 'timeout'],
    [['circuit_open', 'quota'], 'quota'],
    [['circuit_open', 'misconfigured'], 'misconfigured'],
    [['misconfigured', 'circuit_open'], 'circuit_open'],
  ] as const)(
    'throws for the failures %j the last one of a provider that was called: %s',
    async (reasons, thrown) => {
      const { result } = callAll(INQUIRY, ...reasons.map((reason) => ({ reason })));
      expect((await failureOf(result)).reason).toBe(thrown);
    },
  );

  it('throws the failure of the last provider called, with the shortest wait of all', async () => {
    const { result } = callAll(
      INQUIRY,
      { reason: 'circuit_open', retryAfterSeconds: 9 },
      { reason: 'circuit_open', retryAfterSeconds: 4 },
      { reason: 'quota', delivery: 'not_sent' },
    );
    expect(await failureOf(result)).toMatchObject({
      provider: 'p2',
      operation: 'o',
      reason: 'quota',
      delivery: 'not_sent',
      retryAfterSeconds: 4,
    });
  });
});
