import { readEnv } from '#shared/env.ts';
import { pathIn } from '#shared/secrets/file.ts';
import { keyFileSigner } from './key-file.ts';
import { kmsSigner } from './kms.ts';
import type { TokenSigner } from './port.ts';

/** Returns the signer by the keys that the environment names: a key file, or KMS keys with the current one first. */
export const signerFromEnv = (): TokenSigner => {
  const [first = '', ...others] = readEnv(['SIGNING_KEYS']).SIGNING_KEYS;
  const path = pathIn(first);
  return path === undefined ? kmsSigner([first, ...others]) : keyFileSigner(path);
};
