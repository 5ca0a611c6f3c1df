/** The number of the clock window (UTC) that `nowMs` lies in, counted from the epoch. */
export const windowOf = (nowMs: number, windowSeconds: number): number =>
  Math.floor(nowMs / 1000 / windowSeconds);

/** Whole seconds until the next window begins, rounded up: from 1 to `windowSeconds`. */
export const secondsToNextWindow = (nowMs: number, windowSeconds: number): number =>
  Math.max(1, Math.ceil((windowOf(nowMs, windowSeconds) + 1) * windowSeconds - nowMs / 1000));
