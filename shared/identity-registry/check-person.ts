import { problem } from '#shared/problems.ts';
import { ProviderUnavailable } from '#shared/providers/unavailable.ts';
import type { IdentityRegistry, JalaliDay } from './port.ts';

/** Said to a caller when the registry does not say how long. */
const DEFAULT_RETRY_AFTER_SECONDS = 30;

/** Kept back from the deadline for the link itself. */
const LINK_RESERVE_MS = 3000;

/**
 * Both checks of a person, side by side. Resolves if both match. Throws `identity_mismatch`, `phone_not_owned` or
 * `verification_unavailable`; the first of them ends the other check. Only an explicit verdict refuses a person.
 */
export const checkPerson = async (
  registry: IdentityRegistry,
  person: { readonly nationalId: string; readonly birthDate: JalaliDay; readonly phone: string },
  deadlineMs: number,
): Promise<void> => {
  const ended = new AbortController();
  const timeLeftMs = Math.max(0, deadlineMs - Date.now() - LINK_RESERVE_MS);
  const signal = AbortSignal.any([ended.signal, AbortSignal.timeout(timeLeftMs)]);

  const identity = async () => {
    const verdict = await registry.checkIdentity(person.nationalId, person.birthDate, signal);
    if (verdict !== 'matched') throw problem('identity_mismatch');
  };
  const ownership = async () => {
    const verdict = await registry.checkPhoneOwnership(person.nationalId, person.phone, signal);
    if (verdict !== 'matched') throw problem('phone_not_owned');
  };

  try {
    await Promise.all([identity(), ownership()]);
  } catch (error) {
    if (!(error instanceof ProviderUnavailable)) throw error;
    throw problem('verification_unavailable', {
      retryAfterSeconds: error.retryAfterSeconds ?? DEFAULT_RETRY_AFTER_SECONDS,
      cause: error,
    });
  } finally {
    ended.abort();
  }
};
