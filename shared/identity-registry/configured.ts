import { providersNamed } from '#shared/providers/provider.ts';
import { type ResilienceOptions, resilient } from '#shared/providers/resilient.ts';
import type { SecretSource } from '#shared/secrets/port.ts';
import { jibit } from './jibit.ts';
import { IDENTITY, type IdentityRegistry, OWNERSHIP } from './port.ts';
import { sandboxRegistry } from './sandbox.ts';
import { zohal } from './zohal.ts';

/** Every registry. Their order has no meaning. */
export const IDENTITY_PROVIDERS = [jibit, zohal, sandboxRegistry] as const;

/**
 * The timeout of one inquiry. The create operation has 16 seconds for the checks: enough for a second attempt, or for the next
 * provider, after a timeout.
 */
const ATTEMPT_TIMEOUT_MS = 6000;

/** Returns the registry of a deployment: the named providers in their order, with credentials from the provider secret. */
export const identityRegistryFrom = (
  names: readonly string[],
  credentials: SecretSource,
  options?: ResilienceOptions,
): IdentityRegistry => {
  const over = resilient<IdentityRegistry>(providersNamed(names, IDENTITY_PROVIDERS), credentials, options);
  const inquiry = (operation: string) =>
    over({ operation, mayRepeat: true, attemptTimeoutMs: ATTEMPT_TIMEOUT_MS, outcomeOf: String });
  const identity = inquiry(IDENTITY);
  const ownership = inquiry(OWNERSHIP);
  return {
    checkIdentity: (nationalId, birthDate, signal) =>
      identity(signal, (port, until) => port.checkIdentity(nationalId, birthDate, until)),
    checkPhoneOwnership: (nationalId, phone, signal) =>
      ownership(signal, (port, until) => port.checkPhoneOwnership(nationalId, phone, until)),
  };
};
