import { deadlineIn } from '#shared/deadline.ts';
import { currentDeadline, deadlineWithin, runInRequest } from '#shared/request-context.ts';
import { Conflict, retryConflicts } from '#shared/table/retry-conflicts.ts';
import { fakeClock } from '#test/fakes/clock.ts';
import { endless, requestUntil } from '#test/fakes/request.ts';

const { random } = Math;

afterEach(() => {
  Math.random = random;
});

/** An attempt that meets another writer so often. */
const conflicting = (times: number) => {
  const made = { attempts: 0 };
  const step = async () => {
    made.attempts += 1;
    return made.attempts > times ? 'done' : new Conflict();
  };
  return { made, step };
};

describe('retryConflicts', () => {
  it('repeats an attempt while another writer comes first, and returns its result', async () => {
    const { made, step } = conflicting(3);
    Math.random = () => 0;
    expect(await retryConflicts(endless(), step)).toBe('done');
    expect(made.attempts).toBe(4);
  });

  it('throws an error of an attempt as it is, without another attempt', async () => {
    let attempts = 0;
    const failing = retryConflicts(endless(), async () => {
      attempts += 1;
      throw new TypeError('a defect');
    });
    await expect(failing).rejects.toThrow(new TypeError('a defect'));
    expect(attempts).toBe(1);
  });

  it('throws service_unavailable in place of a wait that would end after the deadline', async () => {
    const { made, step } = conflicting(9);
    Math.random = () => 1;
    const startedAt = performance.now();
    await expect(retryConflicts({ leftMs: () => 39 }, step)).rejects.toMatchObject({
      code: 'service_unavailable',
      texts: { detail: expect.stringMatching(/^Other changes of your users came first/) },
      cause: { name: 'WriteConflict' },
    });
    expect(made.attempts).toBe(1);
    expect(performance.now() - startedAt).toBeLessThan(2000);
  });

  it('makes no attempt after the deadline, however long the attempts before it took', async () => {
    const clock = fakeClock('2026-11-21T08:00:00Z');
    const { made, step } = conflicting(9);
    Math.random = () => 0;
    const waiting = retryConflicts(deadlineIn(5000, clock), () => {
      clock.advance(2);
      return step();
    });
    await expect(waiting).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(made.attempts).toBe(3);
  });
});

describe('the waits in a deployment', () => {
  /** Whether the wait after so many conflicts, at a hundredth of its bound, ends before a deadline `leftMs` away. The others are 0. */
  const isWithin = async (leftMs: number, conflicts: number): Promise<boolean> => {
    const { made, step } = conflicting(conflicts);
    Math.random = () => (made.attempts === conflicts ? 0.01 : 0);
    const [{ status }] = await Promise.allSettled([retryConflicts({ leftMs: () => leftMs }, step)]);
    return status === 'fulfilled';
  };

  it.each([
    [1, 40],
    [2, 60],
    [3, 100],
    [4, 500],
    [5, 1000],
    [20, 1000],
  ])('last after %i conflicts up to %i ms', async (conflicts, boundMs) => {
    expect(await isWithin(boundMs / 100 + 0.01, conflicts)).toBe(true);
    expect(await isWithin(boundMs / 100 - 0.01, conflicts)).toBe(false);
  });
});

describe('the deadline of a wait', () => {
  it('is that of the request', () => {
    const deadline = endless();
    expect(runInRequest(requestUntil(deadline), currentDeadline)).toBe(deadline);
  });

  it('is 30 seconds from now outside of a request', () => {
    const leftMs = currentDeadline().leftMs();
    expect(leftMs).toBeLessThanOrEqual(30_000);
    expect(leftMs).toBeGreaterThan(25_000);
  });

  it.each([
    ['its own time', 60_000, 1000],
    ['the time of the request, if less is left', 300, 300],
  ])('with a bound of one second is %s', (_case, requestMs, expectedMs) => {
    const left = runInRequest(requestUntil(endless({ leftMs: () => requestMs })), () =>
      deadlineWithin(1000).leftMs(),
    );
    expect(left).toBeLessThanOrEqual(expectedMs);
    expect(left).toBeGreaterThan(expectedMs - 250);
  });
});
