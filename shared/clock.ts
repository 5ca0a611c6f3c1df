/** Milliseconds since the epoch. A port, so that a test can say what time it is. */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();

/** Milliseconds for durations: a change of the system time does not affect it. */
export const monotonicClock: Clock = () => performance.now();

export const MINUTE_SECONDS = 60;
export const HOUR_SECONDS = 3600;
export const DAY_SECONDS = 86_400;

/** `2026-11-21T08:30:00Z` */
export const timeText = (epochSeconds: number): string =>
  new Date(epochSeconds * 1000).toISOString().replace('.000Z', 'Z');
