import { setTimeout as pause } from 'node:timers/promises';
import type { Deadline } from '#shared/deadline.ts';
import { serviceUnavailable } from '#shared/problems.ts';

/** For each attempt in turn, the bound of the wait after it, in milliseconds. The last one repeats. */
export type Backoff = readonly number[];

/** Full jitter: a random time between 0 and the bound of an attempt, which counts from 0, in milliseconds. */
export const fullJitterMs = (bounds: Backoff, attempt: number): number =>
  Math.random() * (bounds[attempt] ?? bounds.at(-1) ?? 0);

const BETWEEN_ATTEMPTS: Backoff = [4, 8, 16, 32, 64, 128, 256, 400];

/** Why a change was not made: other writers came first. The log shows only its name. */
export class WriteConflict extends Error {
  override readonly name = 'WriteConflict';
}

/** The result of an attempt that another writer preceded. */
export class Conflict<Known = never> {
  readonly written = false;
  /** What the write returned of the new state: the next attempt can use it in place of a read, if it begins at once. */
  readonly known: Known | undefined;

  constructor(known?: Known) {
    this.known = known;
  }
}

/**
 * Repeats `step`, one attempt, while it returns a conflict. Waits a random time between attempts, by the bounds `pauses`. Throws
 * `service_unavailable` if the next attempt would begin after the deadline.
 */
export const retryConflicts = async <Result, Known = never>(
  deadline: Pick<Deadline, 'leftMs'>,
  step: (known: Known | undefined) => Promise<Result | Conflict<Known>>,
  pauses = BETWEEN_ATTEMPTS,
): Promise<Result> => {
  let known: Known | undefined;
  for (let conflicts = 0; ; conflicts += 1) {
    const result = await step(known);
    if (!(result instanceof Conflict)) return result;
    const waitMs = fullJitterMs(pauses, conflicts);
    if (waitMs > deadline.leftMs())
      throw serviceUnavailable(new WriteConflict('other writers came first until the deadline'));
    // After a wait it is out of date.
    known = waitMs === 0 ? result.known : undefined;
    await pause(waitMs);
  }
};
