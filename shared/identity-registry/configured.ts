import { type CallOptions, type CallPolicy, providerCalls } from '#shared/providers/call.ts';
import { type Provider, providersNamed } from '#shared/providers/provider.ts';
import { assertSandboxPhone, failAs, SANDBOX } from '#shared/providers/sandbox.ts';
import { outcomeOfPerson } from '#shared/providers/test-identities.ts';
import type { SecretSource } from '#shared/secrets/secret-source.ts';
import { jibit } from './jibit.ts';
import { IDENTITY, type IdentityRegistry, OWNERSHIP } from './port.ts';
import { zohal } from './zohal.ts';

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

export const IDENTITY_PROVIDERS = [jibit, zohal, sandboxRegistry] as const;

/** The create operation has 16 seconds for the checks: enough for a second attempt, or the next provider, after a timeout. */
const inquiry = (operation: string): CallPolicy => ({
  operation,
  mayRepeat: true,
  attemptTimeoutMs: 6000,
  outcomeOf: String,
});

export const identityRegistryFrom = (
  names: readonly string[],
  credentials: SecretSource,
  options?: CallOptions,
): IdentityRegistry => {
  const call = providerCalls<IdentityRegistry>(
    providersNamed(names, IDENTITY_PROVIDERS),
    credentials,
    options,
  );
  return {
    checkIdentity: (nationalId, birthDate, signal) =>
      call(inquiry(IDENTITY), signal, (port, until) => port.checkIdentity(nationalId, birthDate, until)),
    checkPhoneOwnership: (nationalId, phone, signal) =>
      call(inquiry(OWNERSHIP), signal, (port, until) => port.checkPhoneOwnership(nationalId, phone, until)),
  };
};
