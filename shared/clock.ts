/** The time now, in milliseconds since the epoch. A port, so that a test can say what time it is. */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();

/** Milliseconds since some moment in the past; a change of the system time does not affect it. For durations. */
export const monotonicClock: Clock = () => performance.now();
