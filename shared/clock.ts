/** The time now, in milliseconds since the epoch. A port, so that a test can say what time it is. */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();
