import type { SecretSource } from '#shared/secrets/port.ts';
import type { SmsSender } from './port.ts';

/** The SMS sender of a deployment: the named providers, the first one first, with credentials from the provider secret. */
export const smsSenderFrom = (_names: readonly string[], _credentials: SecretSource): SmsSender => {
  throw new Error('no provider yet');
};
