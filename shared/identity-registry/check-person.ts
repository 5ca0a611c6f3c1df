import { Problem, problem } from '#shared/problems.ts';
import { ProviderUnavailable } from '#shared/providers/unavailable.ts';
import { consumeAll } from '#shared/rate-limits/consumed.ts';
import type { KeyLimits } from '#shared/rate-limits/request-limits.ts';
import type { StageCeilings } from '#shared/rate-limits/stage-ceilings.ts';
import type { IdentityRegistry, JalaliDay } from './port.ts';

/** Retry-After of an undecided check, in seconds: where the registry names no time, and at most. */
const DEFAULT_RETRY_AFTER_SECONDS = 30;
const MAX_RETRY_AFTER_SECONDS = 3600;

/** Reserved before the deadline for the link and the release of its lease. */
const LINK_RESERVE_MS = 3000;

/** A person to check, in the forms that the registries accept. */
export interface PersonToCheck {
  readonly nationalId: string;
  readonly birthDate: JalaliDay;
  readonly phone: string;
}

/** The registry that makes the paid checks, and the limits that count them. */
export interface PaidCheckDeps {
  readonly identityRegistry: IdentityRegistry;
  readonly limits: Pick<KeyLimits, 'consume'>;
  readonly ceilings: Pick<StageCeilings, 'consumePaidCheck'>;
}

/**
 * Checks a person and counts it as one paid check of the key and of the stage. Throws what `checkPerson` throws. Makes no check and
 * throws `rate_limit_exceeded` (key) or `verification_unavailable` (stage) if the count is used up. A check that called no provider
 * is refunded.
 */
export const paidCheck = async (
  { identityRegistry, limits, ceilings }: PaidCheckDeps,
  person: PersonToCheck,
  deadlineMs: number,
): Promise<void> => {
  const paid = await consumeAll(() => limits.consume('paid-checks-per-day'), ceilings.consumePaidCheck);
  try {
    await checkPerson(identityRegistry, person, deadlineMs);
  } catch (error) {
    const cause = error instanceof Problem ? error.cause : undefined;
    if (cause instanceof ProviderUnavailable && !cause.wasCalled) await paid.refund();
    throw error;
  }
};

/**
 * Makes both checks of a person, side by side, before `deadlineMs` (monotonic clock). Resolves if both match. Throws `identity_mismatch`,
 * `phone_not_owned` or `verification_unavailable`; the first of them aborts the other check. Only an explicit verdict refuses a
 * person.
 */
export const checkPerson = async (
  registry: IdentityRegistry,
  { nationalId, birthDate, phone }: PersonToCheck,
  deadlineMs: number,
): Promise<void> => {
  const firstFailure = new AbortController();
  const timeLeftMs = Math.max(0, Math.floor(deadlineMs - performance.now() - LINK_RESERVE_MS));
  const signal = AbortSignal.any([firstFailure.signal, AbortSignal.timeout(timeLeftMs)]);

  const identity = async () => {
    const verdict = await registry.checkIdentity(nationalId, birthDate, signal);
    if (verdict !== 'matched') throw problem('identity_mismatch');
  };
  const ownership = async () => {
    const verdict = await registry.checkPhoneOwnership(nationalId, phone, signal);
    if (verdict !== 'matched') throw problem('phone_not_owned');
  };

  try {
    await Promise.all([identity(), ownership()]);
  } catch (error) {
    if (!(error instanceof ProviderUnavailable)) throw error;
    const seconds = error.retryAfterSeconds ?? DEFAULT_RETRY_AFTER_SECONDS;
    throw problem('verification_unavailable', {
      retryAfterSeconds: Math.min(MAX_RETRY_AFTER_SECONDS, Math.max(1, seconds)),
      cause: error,
    });
  } finally {
    firstFailure.abort();
  }
};
