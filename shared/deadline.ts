import { type Clock, monotonicClock } from './clock.ts';

/** Until when something waits. */
export interface Deadline {
  /** Milliseconds until then; negative afterwards. */
  leftMs(): number;
  /** Aborts then. */
  readonly signal: AbortSignal;
}

/** `clock`: monotonic. */
export const deadlineIn = (timeMs: number, clock: Clock = monotonicClock): Deadline => {
  const endMs = clock() + timeMs;
  return { leftMs: () => endMs - clock(), signal: AbortSignal.timeout(timeMs) };
};
