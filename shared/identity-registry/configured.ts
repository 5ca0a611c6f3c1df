import { unlessAborted } from '#shared/providers/failover.ts';
import { providersNamed } from '#shared/providers/named.ts';
import { type ResilienceOptions, resilient } from '#shared/providers/resilient.ts';
import type { SecretSource } from '#shared/secrets/port.ts';
import { jibit } from './jibit.ts';
import type { IdentityRegistry } from './port.ts';
import { IDENTITY, OWNERSHIP } from './port.ts';
import { zohal } from './zohal.ts';

/** Every registry there is. Their order here means nothing. */
export const IDENTITY_PROVIDERS = [jibit, zohal] as const;

/**
 * The time of one inquiry. The create operation leaves 16 seconds to the checks, so that after an attempt that hangs the next
 * provider, or after one that fails the retry, still has its whole time.
 */
const ATTEMPT_TIMEOUT_MS = 6000;

/** The registry of a deployment: the named providers, the first one first, with credentials from the provider secret. */
export const identityRegistryFrom = (
  names: readonly string[],
  credentials: SecretSource,
  options?: ResilienceOptions,
): IdentityRegistry => {
  const over = resilient<IdentityRegistry>(providersNamed(names, IDENTITY_PROVIDERS), credentials, options);
  const inquiry = (operation: string) =>
    over({
      operation,
      retries: true,
      attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
      mayGoOn: unlessAborted,
      outcomeOf: String,
    });
  const identity = inquiry(IDENTITY);
  const ownership = inquiry(OWNERSHIP);
  return {
    checkIdentity: (nationalId, birthDate, signal) =>
      identity(signal, (port, until) => port.checkIdentity(nationalId, birthDate, until)),
    checkPhoneOwnership: (nationalId, phone, signal) =>
      ownership(signal, (port, until) => port.checkPhoneOwnership(nationalId, phone, until)),
  };
};
