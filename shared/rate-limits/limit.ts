/** A limit, its state, and its clock windows (UTC). */
import type { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS } from '#shared/clock.ts';
import type { ProblemCode, Reason } from '#shared/problems.ts';

export type WindowSeconds = typeof MINUTE_SECONDS | typeof HOUR_SECONDS | typeof DAY_SECONDS;

/** At most `limit` in each clock window (UTC). */
export interface Limit {
  /** A key id, a seller id, `person:<seller>#<hash>`, `phone:<hash>` or `stage:<ceiling>`. Never personal data. */
  readonly subject: string;
  /** Limits of a subject with different names are counted apart. No two limits of a request have the same name. */
  readonly name: string;
  readonly limit: number;
  readonly windowSeconds: WindowSeconds;
  /** How long a count is kept after its window. */
  readonly keptSeconds: number;
  /** The problem of a request over the limit. */
  readonly problem: ProblemCode;
  /** That of the problem. Undefined for a code that has none. */
  readonly reason?: Reason | undefined;
  /** Whose limit it is, for the detail of that problem. Undefined: the detail does not say which limit is used up. */
  readonly whose?: 'API key' | 'person' | 'phone';
  /** The key that the log names when the limit is used up. */
  readonly keyId?: string;
  /** The ceiling of which the log shows how much is used. */
  readonly ceiling?: { readonly name: string; readonly callsPerDay: number };
}

export interface LimitState {
  /** Whether the increment was counted; for a read, whether the next one would be. */
  readonly allowed: boolean;
  readonly remaining: number;
  /** Seconds until the next window begins; at least 1. */
  readonly resetSeconds: number;
  /** When the next window begins, epoch seconds. */
  readonly endsAt: number;
}

/** States by the name of the limit. */
export type LimitStates = ReadonlyMap<string, LimitState>;

/** The number of the clock window (UTC) that `nowMs` lies in, counted from the epoch. */
export const windowOf = (nowMs: number, windowSeconds: number): number =>
  Math.floor(nowMs / 1000 / windowSeconds);

/** When the next window begins, epoch seconds. */
export const windowEnd = (nowMs: number, windowSeconds: number): number =>
  (windowOf(nowMs, windowSeconds) + 1) * windowSeconds;

/** Whole seconds until the next window begins, rounded up: from 1 to `windowSeconds`. */
export const secondsToNextWindow = (nowMs: number, windowSeconds: number): number =>
  Math.max(1, Math.ceil(windowEnd(nowMs, windowSeconds) - nowMs / 1000));
