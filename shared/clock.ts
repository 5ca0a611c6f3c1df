/** The time now, in milliseconds since the epoch. A port, so that a test can say what time it is. */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();

/** Milliseconds since some moment in the past; a change of the system time does not affect it. For durations. */
export const monotonicClock: Clock = () => performance.now();

/** A time in epoch seconds as text: `2026-11-21T08:30:00Z`. */
export const timeText = (epochSeconds: number): string =>
  new Date(epochSeconds * 1000).toISOString().replace('.000Z', 'Z');
