/** Limits of sends in any window: pure functions of the times of sends (epoch seconds, oldest first) and now. */
import { DAY_SECONDS } from '#shared/rate-limits/plans.ts';

/** At most `maximum` sends in any window. */
export interface SendLimit {
  readonly maximum: number;
  readonly windowSeconds: number;
  /** Beyond `maximum`, one send is still allowed this long after the last one. */
  readonly thenEverySeconds?: number;
}

/** Sends are kept for this long: the longest window of a limit. */
export const SENDS_KEPT_SECONDS = DAY_SECONDS;

/** Returns the seconds until the limits allow another send, at most the longest window, or 0 if they allow one now. */
export const secondsUntilNextSend = (
  limits: readonly SendLimit[],
  sends: readonly number[],
  now: number,
): number => {
  // A send that another machine's clock dates after now counts as one of now.
  const secondsSince = (sentAt: number): number => now - Math.min(sentAt, now);
  const waits = limits.map(({ maximum, windowSeconds, thenEverySeconds = Number.POSITIVE_INFINITY }) => {
    const [oldestCounted, last] = [sends.at(-maximum), sends.at(-1)];
    if (oldestCounted === undefined || last === undefined) return 0;
    return Math.min(windowSeconds - secondsSince(oldestCounted), thenEverySeconds - secondsSince(last));
  });
  return Math.max(0, ...waits);
};

export const isRecent = (sentAt: number, now: number): boolean => sentAt > now - SENDS_KEPT_SECONDS;

export const recentSends = (sends: readonly number[], now: number): number[] =>
  sends.filter((sentAt) => isRecent(sentAt, now));
