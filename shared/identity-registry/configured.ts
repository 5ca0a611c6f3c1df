import {
  type CallOptions,
  type CallPolicy,
  callProviders,
  connectProviders,
} from '#shared/providers/call.ts';
import { type Provider, providersNamed } from '#shared/providers/provider.ts';
import { assertSandboxPhone, failAs, SANDBOX } from '#shared/providers/sandbox.ts';
import { outcomeOfPerson } from '#shared/providers/test-identities.ts';
import type { SecretSource } from '#shared/secrets/secret-source.ts';
import { jibit } from './jibit.ts';
import {
  IDENTITY,
  type IdentityRegistry,
  type IdentityVerdict,
  OWNERSHIP,
  type OwnershipVerdict,
} from './port.ts';
import { zohal } from './zohal.ts';

const sandboxRegistry: Provider<IdentityRegistry> = {
  name: SANDBOX,
  credentials: undefined,
  isSandbox: true,
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
const INQUIRY = {
  port: 'identity-registry',
  mayRepeat: true,
  attemptTimeoutMs: 6000,
  outcomeOf: String,
} as const;

const CHECK_IDENTITY: CallPolicy<'checkIdentity', IdentityVerdict> = {
  ...INQUIRY,
  method: 'checkIdentity',
  operation: IDENTITY,
};

const CHECK_OWNERSHIP: CallPolicy<'checkPhoneOwnership', OwnershipVerdict> = {
  ...INQUIRY,
  method: 'checkPhoneOwnership',
  operation: OWNERSHIP,
};

export const identityRegistryFrom = (
  names: readonly string[],
  credentials: SecretSource,
  options?: CallOptions,
): IdentityRegistry => {
  const providers = connectProviders(providersNamed(names, IDENTITY_PROVIDERS), credentials, options);
  return {
    checkIdentity: (nationalId, birthDate, signal) =>
      callProviders(providers, { policy: CHECK_IDENTITY, args: [nationalId, birthDate], signal }),
    checkPhoneOwnership: (nationalId, phone, signal) =>
      callProviders(providers, { policy: CHECK_OWNERSHIP, args: [nationalId, phone], signal }),
  };
};
