import type { SecretSource } from '#shared/secrets/port.ts';
import type { IdentityRegistry } from './port.ts';

/** The registry of a deployment: the named providers, the first one first, with credentials from the provider secret. */
export const identityRegistryFrom = (
  _names: readonly string[],
  _credentials: SecretSource,
): IdentityRegistry => {
  throw new Error('no provider yet');
};
