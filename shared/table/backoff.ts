/** The shortest and the longest bound of the wait between two attempts. */
export interface Backoff {
  readonly baseMs: number;
  readonly capMs: number;
}

/** Full jitter: a random time between 0 and a bound that doubles with each attempt, in milliseconds. */
export const fullJitterMs = ({ baseMs, capMs }: Backoff, attempt: number): number =>
  Math.random() * Math.min(capMs, baseMs * 2 ** attempt);
