import { Problem, type ProblemCode, problem } from '#shared/problems.ts';
import { ProviderUnavailable } from '#shared/providers/unavailable.ts';
import { currentDeadline } from '#shared/request-context.ts';
import type { IdentityRegistry, IdentityVerdict, JalaliDay, OwnershipVerdict } from './port.ts';

/** Retry-After of an undecided check, in seconds: where the registry names no time, and at most. */
const DEFAULT_RETRY_AFTER_SECONDS = 30;
const MAX_RETRY_AFTER_SECONDS = 3600;

/** Reserved before the deadline of the request for the write that follows. */
const LINK_RESERVE_MS = 3000;

/** `verification_unavailable`, since there is no verdict. */
export class UndecidedCheck extends Problem {
  /** Whether a registry got a request, which it may bill. */
  readonly isReached: boolean;

  constructor(failure: ProviderUnavailable, isReached: boolean) {
    const seconds = failure.retryAfterSeconds ?? DEFAULT_RETRY_AFTER_SECONDS;
    super('verification_unavailable', {
      retryAfterSeconds: Math.min(MAX_RETRY_AFTER_SECONDS, Math.max(1, seconds)),
      detail: failure.detail,
      cause: failure,
    });
    this.isReached = isReached;
  }
}

export interface PersonToCheck {
  readonly nationalId: string;
  readonly birthDate: JalaliDay;
  readonly phone: string;
}

/**
 * Makes both checks of a person, side by side. Throws `identity_mismatch` or `phone_not_owned` after such a verdict, an UndecidedCheck
 * without one. The first failure aborts the other check.
 */
export const checkPerson = async (
  identityRegistry: IdentityRegistry,
  { nationalId, birthDate, phone }: PersonToCheck,
): Promise<void> => {
  const firstFailure = new AbortController();
  const timeLeftMs = Math.max(0, Math.floor(currentDeadline().leftMs() - LINK_RESERVE_MS));
  const signal = AbortSignal.any([firstFailure.signal, AbortSignal.timeout(timeLeftMs)]);
  const checks = [
    identityRegistry
      .checkIdentity(nationalId, birthDate, signal)
      .then(refuseUnlessMatched('identity_mismatch')),
    identityRegistry
      .checkPhoneOwnership(nationalId, phone, signal)
      .then(refuseUnlessMatched('phone_not_owned')),
  ];
  try {
    await Promise.all(checks);
  } catch (error) {
    firstFailure.abort();
    if (!(error instanceof ProviderUnavailable)) throw error;
    // The other check ends now. A registry may have got its request before.
    const ends = await Promise.allSettled(checks);
    throw new UndecidedCheck(error, ends.some(isReached));
  }
};

const isReached = (end: PromiseSettledResult<void>): boolean =>
  end.status === 'fulfilled' ||
  !(end.reason instanceof ProviderUnavailable) ||
  end.reason.delivery !== 'not_reached';

const refuseUnlessMatched = (code: ProblemCode) => (verdict: IdentityVerdict | OwnershipVerdict) => {
  if (verdict !== 'matched') throw problem(code);
};
