/**
 * What may be done with a phone's one-time code: pure rules over (what is stored, now). All times are epoch seconds.
 * The stored item is written under conditions in `store.ts`, so a decision made here is never acted on twice.
 */

import type { Scope } from '#shared/scopes.ts';

export const CODE_LIFETIME_SECONDS = 300;
export const RESEND_AFTER_SECONDS = 60;
export const MAX_TRIES_PER_CODE = 5;
/** Consecutive failures of a phone, over all its codes, until it is locked (NIST SP 800-63B-4 §3.1.3.2). */
export const MAX_CONSECUTIVE_FAILURES = 10;
export const LOCK_SECONDS = 15 * 60;

const DAY_SECONDS = 24 * 3600;

/** At most `sends` in any `windowSeconds`. The first row is the cool-down. */
const SEND_LIMITS = [
  { sends: 1, windowSeconds: RESEND_AFTER_SECONDS },
  { sends: 5, windowSeconds: 600 },
  { sends: 10, windowSeconds: DAY_SECONDS },
] as const;

/** What is kept for a phone. The code itself never is: `mac` is keyed. */
export interface CodeRecord {
  /** Times of the sends of the last 24 hours, oldest first. */
  readonly sends: readonly number[];
  /** Consecutive wrong codes. They outlive the code: a new code does not forgive them. */
  readonly failures: number;
  readonly lastFailureAt: number;
  /** The code that is out, if one is. */
  readonly code?: OutstandingCode;
}

export interface OutstandingCode {
  readonly mac: string;
  /** The seller that had it sent: no other may use it. `public` where the operations need no key. */
  readonly audience: string;
  readonly expiresAt: number;
  readonly tries: number;
}

/** Until when the phone is locked, or 0. A lock needs no write of its own: it follows from the failures and the last one's time. */
export const lockedUntil = (record: CodeRecord): number =>
  record.failures >= MAX_CONSECUTIVE_FAILURES ? record.lastFailureAt + LOCK_SECONDS : 0;

/** Seconds to wait until another code may be sent: 0 if one may be sent now. */
export const secondsUntilNextSend = (sends: readonly number[], now: number): number => {
  const waits = SEND_LIMITS.map((limit) => {
    const oldestThatCounts = sends.at(-limit.sends);
    return oldestThatCounts === undefined ? 0 : oldestThatCounts + limit.windowSeconds - now;
  });
  return Math.max(0, ...waits);
};

/** The sends that still count towards a limit. */
export const recentSends = (sends: readonly number[], now: number): number[] =>
  sends.filter((sentAt) => sentAt > now - DAY_SECONDS);

/** Why a try may not even be compared. */
export type TryRefusal =
  | { readonly reason: 'rejected' }
  | { readonly reason: 'too_many_attempts'; readonly retryAfterSeconds: number };

/** Why a try of `audience` was not counted, from what was stored when it was refused; undefined if it may be tried after all. */
export const whyNotTried = (
  record: CodeRecord | undefined,
  audience: string,
  now: number,
): TryRefusal | undefined => {
  if (record === undefined) return { reason: 'rejected' };
  const lockedForSeconds = lockedUntil(record) - now;
  if (lockedForSeconds > 0) return { reason: 'too_many_attempts', retryAfterSeconds: lockedForSeconds };
  const { code } = record;
  if (code === undefined || code.expiresAt <= now || code.audience !== audience)
    return { reason: 'rejected' };
  if (code.tries < MAX_TRIES_PER_CODE) return undefined;
  return {
    reason: 'too_many_attempts',
    retryAfterSeconds: Math.max(1, secondsUntilNextSend(record.sends, now)),
  };
};

/** The audience of the codes and tokens of a deployment whose one-time-code operations need no key. */
const PUBLIC_AUDIENCE = 'public';

/** Whom a code and its token are for: the caller's seller. */
export const audienceOf = (caller: { readonly sellerId: string } | undefined): string =>
  caller?.sellerId ?? PUBLIC_AUDIENCE;

/** Whether a verified code also registers the buyer: with the buyer app's own key, or where no key is needed. */
export const registersBuyers = (caller: { readonly scopes: readonly Scope[] } | undefined): boolean =>
  caller === undefined || caller.scopes.includes('buyers:register');
