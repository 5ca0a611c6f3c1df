import { type ProblemCode, problem } from '#shared/problems.ts';
import { ProviderUnavailable } from '#shared/providers/unavailable.ts';
import type { Refund } from '#shared/rate-limits/request-limits.ts';
import type { IdentityRegistry, IdentityVerdict, JalaliDay, OwnershipVerdict } from './port.ts';

/** Retry-After of an undecided check, in seconds: where the registry names no time, and at most. */
const DEFAULT_RETRY_AFTER_SECONDS = 30;
const MAX_RETRY_AFTER_SECONDS = 3600;

/** Reserved before the deadline for the link and the release of its lease. */
const LINK_RESERVE_MS = 3000;

export interface PersonToCheck {
  readonly nationalId: string;
  readonly birthDate: JalaliDay;
  readonly phone: string;
}

export interface PaidCheckDeps {
  readonly identityRegistry: IdentityRegistry;
  readonly count: () => Promise<Refund>;
}

/**
 * Makes both checks of a person, side by side, as one paid check, which is refunded if no provider was called. Throws `identity_mismatch`
 * or `phone_not_owned` after such a verdict, `verification_unavailable` without one. The first failure aborts the other check.
 */
export const paidCheck = async (
  { identityRegistry, count }: PaidCheckDeps,
  { nationalId, birthDate, phone }: PersonToCheck,
  deadlineMs: number,
): Promise<void> => {
  const refund = await count();
  const firstFailure = new AbortController();
  const timeLeftMs = Math.max(0, Math.floor(deadlineMs - performance.now() - LINK_RESERVE_MS));
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
    if (!error.wasCalled) await refund();
    const seconds = error.retryAfterSeconds ?? DEFAULT_RETRY_AFTER_SECONDS;
    throw problem('verification_unavailable', {
      retryAfterSeconds: Math.min(MAX_RETRY_AFTER_SECONDS, Math.max(1, seconds)),
      detail: error.detail,
      cause: error,
    });
  }
};

const refuseUnlessMatched = (code: ProblemCode) => (verdict: IdentityVerdict | OwnershipVerdict) => {
  if (verdict !== 'matched') throw problem(code);
};
