import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { cachedPromise } from '#shared/cached-promise.ts';
import { publishedKey, signedToken } from './jws.ts';
import type { TokenSigner } from './port.ts';

/** Signs with a P-256 private key in a PEM file, for one machine. Reads the file once. */
export const keyFileSigner = (path: string): TokenSigner => {
  const keys = cachedPromise(async () => {
    const privateKey = createPrivateKey(await readFile(path, 'utf8'));
    return { privateKey, published: publishedKey(createPublicKey(privateKey).export({ format: 'jwk' })) };
  });
  return {
    async sign(claims) {
      const { privateKey, published } = await keys();
      const key = { key: privateKey, dsaEncoding: 'ieee-p1363' } as const;
      return signedToken(published.kid, claims, (input) => sign('sha256', input, key));
    },
    publicKeys: async () => ({ keys: [(await keys()).published] }),
  };
};
