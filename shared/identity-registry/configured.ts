import { type CallOptions, type CallPolicy, providerCalls } from '#shared/providers/call.ts';
import { providersNamed } from '#shared/providers/provider.ts';
import type { SecretSource } from '#shared/secrets/port.ts';
import { jibit } from './jibit.ts';
import { IDENTITY, type IdentityRegistry, OWNERSHIP } from './port.ts';
import { sandboxRegistry } from './sandbox.ts';
import { zohal } from './zohal.ts';

/** Every registry. Their order has no meaning. */
export const IDENTITY_PROVIDERS = [jibit, zohal, sandboxRegistry] as const;

/**
 * How an inquiry is made. The create operation has 16 seconds for the checks: enough for a second attempt, or for the next provider,
 * after a timeout.
 */
const inquiry = (operation: string): CallPolicy => ({
  operation,
  mayRepeat: true,
  attemptTimeoutMs: 6000,
  outcomeOf: String,
});

const IDENTITY_INQUIRY = inquiry(IDENTITY);
const OWNERSHIP_INQUIRY = inquiry(OWNERSHIP);

/** Returns the registry of a deployment: the named providers in their order, with credentials from the provider secret. */
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
      call(IDENTITY_INQUIRY, signal, (port, until) => port.checkIdentity(nationalId, birthDate, until)),
    checkPhoneOwnership: (nationalId, phone, signal) =>
      call(OWNERSHIP_INQUIRY, signal, (port, until) => port.checkPhoneOwnership(nationalId, phone, until)),
  };
};
