/** The registry of a sandbox stage: answers by the test persons, in process. Every other valid person matches. */
import type { Provider } from '#shared/providers/provider.ts';
import { isSandboxPhone, neverRespond, SANDBOX } from '#shared/providers/sandbox.ts';
import { outcomeOfPerson, type PersonOutcome } from '#shared/providers/test-identities.ts';
import { type CallSite, ProviderUnavailable, type UnavailableReason } from '#shared/providers/unavailable.ts';
import type { IdentityRegistry } from './port.ts';
import { IDENTITY, OWNERSHIP } from './port.ts';

/** The failure of each outcome that is no verdict; `slow` never responds. */
const FAILURES: Partial<Record<PersonOutcome, UnavailableReason>> = {
  quota: 'quota',
  balance: 'balance',
  upstream_down: 'upstream',
  malformed: 'malformed',
  undecided: 'undecided',
  rejected: 'rejected',
};

const IDENTITY_SITE: CallSite = { provider: SANDBOX, operation: IDENTITY };
const OWNERSHIP_SITE: CallSite = { provider: SANDBOX, operation: OWNERSHIP };

/** Returns the outcome of a person that is a verdict; undefined for a person who matches. */
const verdictOf = async (
  site: CallSite,
  nationalId: string,
  signal: AbortSignal,
): Promise<PersonOutcome | undefined> => {
  const outcome = outcomeOfPerson(nationalId);
  if (outcome === 'slow') return neverRespond(site, signal, 'possibly_sent');
  const reason = outcome && FAILURES[outcome];
  if (reason !== undefined) throw new ProviderUnavailable(site, reason, { delivery: 'not_sent' });
  return outcome;
};

/** The identity registry `sandbox`. */
export const sandboxRegistry: Provider<IdentityRegistry> = {
  name: SANDBOX,
  credentials: undefined,
  open: () => ({
    async checkIdentity(nationalId, _birthDate, signal) {
      const outcome = await verdictOf(IDENTITY_SITE, nationalId, signal);
      return outcome === 'not_found' || outcome === 'deceased' ? outcome : 'matched';
    },
    async checkPhoneOwnership(nationalId, phone, signal) {
      // Not a verdict: the sandbox knows nothing about the owner of a real phone.
      if (!isSandboxPhone(phone)) {
        throw new ProviderUnavailable(OWNERSHIP_SITE, 'rejected', { delivery: 'not_sent' });
      }
      const outcome = await verdictOf(OWNERSHIP_SITE, nationalId, signal);
      return outcome === 'not_owner' ? 'not_matched' : 'matched';
    },
  }),
};
