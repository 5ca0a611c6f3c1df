import { setTimeout as pause } from 'node:timers/promises';
import type { Deadline } from '#shared/deadline.ts';
import { PROBLEMS, type Problem, problem } from '#shared/problems.ts';

/** For each attempt in turn, the bound of the wait after it, in milliseconds. The last one repeats. */
export type Backoff = readonly number[];

/** Full jitter: a random time between 0 and the bound of an attempt, which counts from 0, in milliseconds. */
export const fullJitterMs = (bounds: Backoff, attempt: number): number =>
  Math.random() * (bounds[attempt] ?? bounds.at(-1) ?? 0);

/**
 * The bounds between the attempts of every write, in milliseconds. The first ones are short, so that a few writers at once all finish
 * within 0.3 s; the last one is long, so that many writers leave some room. Measured by `npm run bench:changes`.
 */
const BETWEEN_ATTEMPTS: Backoff = [40, 60, 100, 500, 1000];

/** Why a change was not made: other writers came first. The log shows only its name. */
export class WriteConflict extends Error {
  override readonly name = 'WriteConflict';
}

/** `service_unavailable`, because other writers came first. Unlike a throttled table, the next request may find none. */
export const overtakenProblem = (why: string): Problem =>
  problem('service_unavailable', {
    detail: PROBLEMS.service_unavailable.otherDetail,
    cause: new WriteConflict(why),
    retryAfterSeconds: 1,
  });

/** The result of an attempt that another writer preceded. */
export class Conflict {
  readonly written = false;
}

/**
 * Repeats `step`, one attempt, while it returns a conflict. Waits a random time between attempts. Throws `service_unavailable` if the next
 * attempt would begin after the deadline.
 */
export const retryConflicts = async <Result>(
  deadline: Pick<Deadline, 'leftMs'>,
  step: () => Promise<Result | Conflict>,
): Promise<Result> => {
  for (let conflicts = 0; ; conflicts += 1) {
    const result = await step();
    if (!(result instanceof Conflict)) return result;
    const waitMs = fullJitterMs(BETWEEN_ATTEMPTS, conflicts);
    if (waitMs > deadline.leftMs()) throw overtakenProblem('other writers came first until the deadline');
    await pause(waitMs);
  }
};
