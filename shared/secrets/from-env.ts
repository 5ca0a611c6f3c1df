/** The secrets that the environment of a function names. */
import { readEnv } from '#shared/env.ts';
import { fileSecret, pathIn } from './file.ts';
import { type KeyedHashes, keyedHashesFrom } from './keyed-hashes.ts';
import type { SecretSource } from './port.ts';
import { secretsManagerSecret } from './secrets-manager.ts';

const secretAt = (address: string): SecretSource => {
  const path = pathIn(address);
  return path === undefined ? secretsManagerSecret(address) : fileSecret(path);
};

/** Returns the keyed hashes by the hash secret. */
export const hashesFromEnv = (): KeyedHashes =>
  keyedHashesFrom(secretAt(readEnv(['HASH_SECRET']).HASH_SECRET));

/** Returns the credentials of the providers. */
export const providerSecretFromEnv = (): SecretSource =>
  secretAt(readEnv(['PROVIDER_SECRET']).PROVIDER_SECRET);
