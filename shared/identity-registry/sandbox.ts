/** The registry of a sandbox stage: answers by the test persons, in process. Every other valid person matches. */
import type { Provider } from '#shared/providers/provider.ts';
import { assertSandboxPhone, failAs, SANDBOX } from '#shared/providers/sandbox.ts';
import { outcomeOfPerson } from '#shared/providers/test-identities.ts';
import { IDENTITY, type IdentityRegistry, OWNERSHIP } from './port.ts';

/** The identity registry `sandbox`. */
export const sandboxRegistry: Provider<IdentityRegistry> = {
  name: SANDBOX,
  credentials: undefined,
  open: () => ({
    async checkIdentity(nationalId, _birthDate, signal) {
      const outcome = outcomeOfPerson(nationalId);
      await failAs(outcome, { provider: SANDBOX, operation: IDENTITY }, signal);
      return outcome === 'not_found' || outcome === 'deceased' ? outcome : 'matched';
    },
    async checkPhoneOwnership(nationalId, phone, signal) {
      const site = { provider: SANDBOX, operation: OWNERSHIP };
      assertSandboxPhone(phone, site);
      const outcome = outcomeOfPerson(nationalId);
      await failAs(outcome, site, signal);
      return outcome === 'not_owner' ? 'not_matched' : 'matched';
    },
  }),
};
