/** The limits of one-time codes and what follows from them: pure functions of (record, now), in epoch seconds. */
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS, timeText } from '#shared/clock.ts';
import { PROBLEMS, type ReasonOf } from '#shared/problems.ts';
import { isBuyerAppOrPublic } from '#shared/scopes.ts';

/** Docs and the OpenAPI document are generated from this table. */
export const CODE_LIMITS = {
  digits: 6,
  lifetimeSeconds: 300,
  triesPerCode: 5,
  /** Sends per phone and seller in any window. The first row is the cool-down. */
  sendLimits: [
    { maximum: 1, windowSeconds: MINUTE_SECONDS },
    { maximum: 5, windowSeconds: 10 * MINUTE_SECONDS },
    { maximum: 10, windowSeconds: DAY_SECONDS },
  ],
  /** The same for the buyer app: otherwise whoever opens the app could keep the buyer of a phone out for a day. */
  sendLimitsOfBuyerApp: [
    { maximum: 1, windowSeconds: MINUTE_SECONDS },
    { maximum: 5, windowSeconds: 10 * MINUTE_SECONDS },
    { maximum: 10, windowSeconds: DAY_SECONDS, thenEverySeconds: HOUR_SECONDS },
    { maximum: 24, windowSeconds: DAY_SECONDS },
  ],
  /** Consecutive failures per phone and seller that lock the phone (NIST SP 800-63B-4 §3.2.2). The last lock ends only by an admin. */
  locks: [
    { failures: 10, lockSeconds: 15 * MINUTE_SECONDS },
    { failures: 20, lockSeconds: 30 * MINUTE_SECONDS },
    { failures: 30, lockSeconds: HOUR_SECONDS },
    { failures: 40, lockSeconds: 2 * HOUR_SECONDS },
    { failures: 50, lockSeconds: 4 * HOUR_SECONDS },
    { failures: 60, lockSeconds: 8 * HOUR_SECONDS },
    { failures: 70, lockSeconds: 16 * HOUR_SECONDS },
    { failures: 80, lockSeconds: DAY_SECONDS },
    { failures: 90, lockSeconds: DAY_SECONDS },
    { failures: 100, lockSeconds: Number.POSITIVE_INFINITY },
  ],
} as const;

export const CODE_LIFETIME_SECONDS = CODE_LIMITS.lifetimeSeconds;
export const RESEND_AFTER_SECONDS = CODE_LIMITS.sendLimits[0].windowSeconds;
const MAX_TRIES_PER_CODE = CODE_LIMITS.triesPerCode;
export const FIRST_LOCK_AT = CODE_LIMITS.locks[0].failures;
/** The number of consecutive failures after which only an admin can unlock the phone. */
export const MAX_CONSECUTIVE_FAILURES = 100;
/** The Retry-After of a lock that only an admin can end, and the largest Retry-After of all. */
const MAX_RETRY_AFTER_SECONDS = DAY_SECONDS;

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

const isRecent = (sentAt: number, now: number): boolean => sentAt > now - SENDS_KEPT_SECONDS;

export const recentSends = (sends: readonly number[], now: number): number[] =>
  sends.filter((sentAt) => isRecent(sentAt, now));

/** The code that can be verified now. `mac` is keyed; the code itself is stored nowhere. */
export interface OutstandingCode {
  readonly mac: string;
  readonly expiresAt: number;
  /** The tries that were counted. */
  readonly tries: number;
  readonly provider: string;
}

export interface CodeRecord {
  /** Times of the audience's sends in the last 24 hours, oldest first: of messages that were possibly sent. */
  readonly sends: readonly number[];
  /** The time of the last message that a provider bounced; 0 if none did. It starts the cool-down, and counts toward no other limit. */
  readonly lastBouncedAt: number;
  /** Consecutive failures, over all codes. Only a verified code or an admin sets them to 0. */
  readonly failures: number;
  readonly lastFailureAt: number;
  /** The number of failures that locks the phone next. A send raises it when a lock has elapsed. */
  readonly lockAt: number;
  readonly code?: OutstandingCode;
}

/** A problem and the wait after it. */
type Wait = { readonly retryAfterSeconds: number; readonly detail: string } & (
  | { readonly code: 'resend_too_soon'; readonly reason: ReasonOf<'resend_too_soon'> }
  | { readonly code: 'too_many_attempts'; readonly reason: ReasonOf<'too_many_attempts'> }
);

const untilText = (now: number, seconds: number): string =>
  `until ${timeText(now + seconds)}. Wait for Retry-After seconds.`;

/** `1 send in 1 minute`, `10 sends in 24 hours` */
export const sendLimitText = ({ maximum, windowSeconds }: SendLimit): string => {
  const [count, unit] =
    windowSeconds < HOUR_SECONDS
      ? [windowSeconds / MINUTE_SECONDS, 'minute']
      : [windowSeconds / HOUR_SECONDS, 'hour'];
  return `${maximum} send${maximum === 1 ? '' : 's'} in ${count} ${unit}${count === 1 ? '' : 's'}`;
};

export type RejectedTry = Wait | { readonly code: 'code_rejected' };

/** Returns the seconds until the lock ends, at most the length of the lock, or 0 if the phone is not locked. */
export const secondsLocked = ({ failures, lastFailureAt, lockAt }: CodeRecord, now: number): number => {
  if (failures < lockAt) return 0;
  const lock = CODE_LIMITS.locks.findLast((row) => row.failures <= failures);
  if (lock === undefined) return 0;
  // A failure that another machine's clock dates after now counts as one of now.
  const elapsed = Math.max(0, now - lastFailureAt);
  return Math.min(MAX_RETRY_AFTER_SECONDS, Math.max(0, lock.lockSeconds - elapsed));
};

export const nextLockAt = (failures: number): number =>
  CODE_LIMITS.locks.find((row) => row.failures > failures)?.failures ?? MAX_CONSECUTIVE_FAILURES;

export const sendLimitsOf = (caller: Parameters<typeof isBuyerAppOrPublic>[0]): readonly SendLimit[] =>
  isBuyerAppOrPublic(caller) ? CODE_LIMITS.sendLimitsOfBuyerApp : CODE_LIMITS.sendLimits;

const secondsUntilResend = (
  { sends, lastBouncedAt }: CodeRecord,
  now: number,
  limits: readonly SendLimit[],
): number =>
  Math.max(
    secondsUntilNextSend(limits, recentSends(sends, now), now),
    secondsUntilNextSend([CODE_LIMITS.sendLimits[0]], lastBouncedAt > 0 ? [lastBouncedAt] : [], now),
  );

const LOCKED_FOR_GOOD =
  'This phone is locked after failed codes until an operator of the service unlocks it.';

const lockOf = (record: CodeRecord, now: number): Wait | undefined => {
  const seconds = secondsLocked(record, now);
  if (seconds === 0) return undefined;
  const wait = { code: 'too_many_attempts', retryAfterSeconds: seconds } as const;
  if (record.failures >= MAX_CONSECUTIVE_FAILURES)
    return { ...wait, reason: 'phone_locked_for_good', detail: LOCKED_FOR_GOOD };
  const detail = `This phone is locked after failed codes ${untilText(now, seconds)}`;
  return { ...wait, reason: 'phone_locked', detail };
};

export const whyNotSent = (
  record: CodeRecord,
  limits: readonly SendLimit[],
  now: number,
): Wait | undefined => {
  const locked = lockOf(record, now);
  if (locked !== undefined) return locked;
  const seconds = secondsUntilResend(record, now, limits);
  if (seconds === 0) return undefined;
  const wait = { code: 'resend_too_soon', retryAfterSeconds: seconds } as const;
  const { detail, otherDetail } = PROBLEMS.resend_too_soon;
  return seconds > secondsUntilResend(record, now, [CODE_LIMITS.sendLimits[0]])
    ? { ...wait, reason: 'phone_limit', detail }
    : { ...wait, reason: 'cool_down', detail: otherDetail };
};

/** The new code replaces the old one; failures and a running lock stay. */
export const afterSend = (
  record: CodeRecord,
  code: Pick<OutstandingCode, 'mac' | 'provider'>,
  now: number,
): CodeRecord & { readonly code: OutstandingCode } => ({
  sends: [...recentSends(record.sends, now), now],
  lastBouncedAt: record.lastBouncedAt,
  failures: record.failures,
  lastFailureAt: record.lastFailureAt,
  lockAt: secondsLocked(record, now) > 0 ? record.lockAt : nextLockAt(record.failures),
  code: { ...code, expiresAt: now + CODE_LIFETIME_SECONDS, tries: 0 },
});

/** The record of a send that no provider sent: no code is outstanding. If a provider bounced it, the cool-down starts. */
export const afterUnsent = (
  { code: _replaced, ...before }: CodeRecord,
  { now, isBounced }: { readonly now: number; readonly isBounced: boolean },
): CodeRecord => ({ ...before, lastBouncedAt: isBounced ? now : before.lastBouncedAt });

interface TryCondition {
  /** As the write of a try sends it. */
  readonly expression: string;
  readonly holds: (record: CodeRecord, now: number) => boolean;
  /** The reason of a try for which it does not hold. */
  readonly otherwise: RejectedTry['code'];
}

/** A try is compared with the code if all of these hold. The first that does not is the reason. */
export const TRY_CONDITIONS: readonly TryCondition[] = [
  {
    expression: 'code_expires_at > :now',
    holds: ({ code }, now) => code !== undefined && code.expiresAt > now,
    otherwise: 'code_rejected',
  },
  {
    // After a lock, only a new code can be tried.
    expression: 'failures < lock_at',
    holds: ({ failures, lockAt }) => failures < lockAt,
    otherwise: 'code_rejected',
  },
  {
    expression: 'tries < :maxTries',
    holds: ({ code }) => code !== undefined && code.tries < MAX_TRIES_PER_CODE,
    otherwise: 'too_many_attempts',
  },
];

/** What the expressions name, besides `:now`. */
export const TRY_VALUES = { ':maxTries': MAX_TRIES_PER_CODE } as const;

/** Returns why a try is not compared with the code. `limits`: those of the caller's sends. */
export const whyNotTried = (
  record: CodeRecord,
  now: number,
  limits: readonly SendLimit[] = CODE_LIMITS.sendLimits,
): RejectedTry | undefined => {
  const locked = lockOf(record, now);
  if (locked !== undefined) return locked;
  const failed = TRY_CONDITIONS.find(({ holds }) => !holds(record, now));
  if (failed === undefined) return undefined;
  if (failed.otherwise === 'code_rejected') return { code: 'code_rejected' };
  const seconds = Math.max(1, secondsUntilResend(record, now, limits));
  const usedUp = `The ${MAX_TRIES_PER_CODE} tries of this code are used up. No other code can be sent`;
  return {
    code: 'too_many_attempts',
    reason: 'code_tries',
    retryAfterSeconds: seconds,
    detail: `${usedUp} ${untilText(now, seconds)}`,
  };
};

/** The audience of codes and tokens in a deployment whose one-time-code operations take no key. */
export const PUBLIC_AUDIENCE = 'public';

export const audienceOf = (caller: { readonly sellerId: string } | undefined): string =>
  caller?.sellerId ?? PUBLIC_AUDIENCE;
