import { Problem, type ProblemCode, problem } from '#shared/problems.ts';
import { ProviderUnavailable } from '#shared/providers/unavailable.ts';
import { currentDeadline } from '#shared/request-context.ts';
import type { IdentityRegistry, IdentityVerdict, JalaliDay, OwnershipVerdict } from './port.ts';

/** Retry-After of an undecided check, in seconds: where the registry names no time, and at most. */
const DEFAULT_RETRY_AFTER_SECONDS = 30;
const MAX_RETRY_AFTER_SECONDS = 3600;

/** Reserved before the deadline of the request for the write that follows. */
const LINK_RESERVE_MS = 3000;

export interface PersonToCheck {
  readonly nationalId: string;
  readonly birthDate: JalaliDay;
  readonly phone: string;
}

/**
 * Makes both checks of a person, side by side. Throws `identity_mismatch` or `phone_not_owned` after such a verdict,
 * `verification_unavailable` without one. The first failure aborts the other check.
 */
export const checkPerson = async (
  identityRegistry: IdentityRegistry,
  { nationalId, birthDate, phone }: PersonToCheck,
): Promise<void> => {
  const firstFailure = new AbortController();
  const timeLeftMs = Math.max(0, Math.floor(currentDeadline().leftMs() - LINK_RESERVE_MS));
  const signal = AbortSignal.any([firstFailure.signal, AbortSignal.timeout(timeLeftMs)]);
  try {
    await Promise.all([
      identityRegistry
        .checkIdentity(nationalId, birthDate, signal)
        .then(refuseUnlessMatched('identity_mismatch')),
      identityRegistry
        .checkPhoneOwnership(nationalId, phone, signal)
        .then(refuseUnlessMatched('phone_not_owned')),
    ]);
  } catch (error) {
    firstFailure.abort();
    if (!(error instanceof ProviderUnavailable)) throw error;
    const seconds = error.retryAfterSeconds ?? DEFAULT_RETRY_AFTER_SECONDS;
    throw problem('verification_unavailable', {
      retryAfterSeconds: Math.min(MAX_RETRY_AFTER_SECONDS, Math.max(1, seconds)),
      detail: error.detail,
      cause: error,
    });
  }
};

/** Returns false if an error of `checkPerson` says that no provider was called, so that nothing can be billed. */
export const wasCalled = (error: unknown): boolean => {
  const cause = error instanceof Problem ? error.cause : error;
  return !(cause instanceof ProviderUnavailable) || cause.wasCalled;
};

const refuseUnlessMatched = (code: ProblemCode) => (verdict: IdentityVerdict | OwnershipVerdict) => {
  if (verdict !== 'matched') throw problem(code);
};
