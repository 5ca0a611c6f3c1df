import { deadlineIn } from '#shared/deadline.ts';
import { currentDeadline, deadlineWithin, runInRequest } from '#shared/request-context.ts';
import { Conflict, retryConflicts } from '#shared/table/retry-conflicts.ts';
import { fakeClock } from '#test/fakes/clock.ts';
import { endless, requestUntil } from '#test/fakes/request.ts';

const { random } = Math;

afterEach(() => {
  Math.random = random;
});

/** An attempt that meets another writer so often. `known`: what each conflict returns. */
const conflicting = (times: number, known?: string) => {
  const received: (string | undefined)[] = [];
  const step = async (fromBefore: string | undefined) => {
    received.push(fromBefore);
    return received.length > times ? 'done' : new Conflict(known);
  };
  return { received, step };
};

describe('retryConflicts', () => {
  it('repeats an attempt while another writer comes first, and returns its result', async () => {
    const { received, step } = conflicting(3);
    expect(await retryConflicts(endless(), step, [0])).toBe('done');
    expect(received).toHaveLength(4);
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

  it('gives what a conflict returned to an attempt that begins at once, and not to one after a wait', async () => {
    const { received, step } = conflicting(3, 'counts');
    Math.random = () => 1;
    await retryConflicts(endless(), step, [0, 1, 0]);
    expect(received).toEqual([undefined, 'counts', undefined, 'counts']);
  });

  it('throws service_unavailable in place of a wait that would end after the deadline', async () => {
    const clock = fakeClock('2026-11-21T08:00:00Z');
    const deadline = deadlineIn(3000, clock);
    const { received, step } = conflicting(9);
    Math.random = () => 1;
    const startedAt = performance.now();
    const waiting = retryConflicts(deadline, step, [3001]);
    await expect(waiting).rejects.toMatchObject({
      code: 'service_unavailable',
      cause: { name: 'WriteConflict' },
    });
    expect(received).toHaveLength(1);
    expect(performance.now() - startedAt).toBeLessThan(2000);
  });

  it('makes no attempt after the deadline, however long the attempts before it took', async () => {
    const clock = fakeClock('2026-11-21T08:00:00Z');
    let attempts = 0;
    const waiting = retryConflicts(deadlineIn(5000, clock), async () => {
      attempts += 1;
      clock.advance(2);
      return new Conflict();
    }, [0]);
    await expect(waiting).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(attempts).toBe(3);
  });
});

describe('the waits in a deployment', () => {
  /** Whether the wait after so many conflicts, at a hundredth of its bound, ends before a deadline `leftMs` away. The others are 0. */
  const isWithin = async (leftMs: number, conflicts: number): Promise<boolean> => {
    const { random } = Math;
    let attempts = 0;
    Math.random = () => (attempts === conflicts ? 0.01 : 0);
    const waiting = retryConflicts({ leftMs: () => leftMs }, async () => {
      attempts += 1;
      return attempts > conflicts ? 'written' : new Conflict();
    });
    const [{ status }] = await Promise.allSettled([waiting]);
    Math.random = random;
    return status === 'fulfilled';
  };

  it.each([
    [1, 4],
    [2, 8],
    [7, 256],
    [8, 400],
    [20, 400],
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
