import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { publishedKey, signingInput } from './jws.ts';
import type { TokenSigner } from './port.ts';

/** Signs with a P-256 private key in a PEM file: for one machine. The file is read once; a failed read is not remembered. */
export const keyFileSigner = (path: string): TokenSigner => {
  const load = async () => {
    const privateKey = createPrivateKey(await readFile(path, 'utf8'));
    return { privateKey, published: publishedKey(createPublicKey(privateKey).export({ format: 'jwk' })) };
  };
  let loading: ReturnType<typeof load> | undefined;
  const loaded = () => {
    if (loading !== undefined) return loading;
    const started = load();
    loading = started;
    started.catch(() => {
      loading = undefined;
    });
    return started;
  };
  return {
    async sign(claims) {
      const { privateKey, published } = await loaded();
      const input = signingInput(published.kid, claims);
      const signature = sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' });
      return `${input}.${signature.toString('base64url')}`;
    },
    publicKeys: async () => ({ keys: [(await loaded()).published] }),
  };
};
