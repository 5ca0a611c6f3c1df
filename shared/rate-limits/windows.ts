import { WINDOW_SECONDS } from './plans.ts';

/** Where a caller stands in one window of a limit. */
export interface Standing {
  readonly admitted: boolean;
  readonly remaining: number;
  /** Until the next window begins; at least 1. */
  readonly resetSeconds: number;
}

/** The number of the clock window (UTC) that `nowMs` lies in. */
export const windowOf = (nowMs: number, windowSeconds: number = WINDOW_SECONDS): number =>
  Math.floor(nowMs / 1000 / windowSeconds);

/** Whole seconds, rounded up, until the next window begins. */
export const secondsToNextWindow = (nowMs: number, windowSeconds: number = WINDOW_SECONDS): number =>
  Math.max(1, Math.ceil((windowOf(nowMs, windowSeconds) + 1) * windowSeconds - nowMs / 1000));
