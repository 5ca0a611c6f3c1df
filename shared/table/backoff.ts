/** How long to wait between attempts, at the least and at the most. */
export interface Backoff {
  readonly baseMs: number;
  readonly capMs: number;
}

/** Full jitter: anywhere between nothing and a bound that doubles with each attempt. In milliseconds. */
export const fullJitterMs = ({ baseMs, capMs }: Backoff, attempt: number): number =>
  Math.random() * Math.min(capMs, baseMs * 2 ** attempt);
