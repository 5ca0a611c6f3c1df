import { createPublicKey } from 'node:crypto';
import { GetPublicKeyCommand, KMSClient, SignCommand } from '@aws-sdk/client-kms';
import { derToJose } from './ecdsa-signature.ts';
import { type PublicKeyJwk, publishedKey, signingInput } from './jws.ts';
import type { TokenSigner } from './port.ts';

const CONNECTION_TIMEOUT_MS = 1000;
const REQUEST_TIMEOUT_MS = 2000;

/**
 * Signs with KMS keys (ECC_NIST_P256): the private key never leaves KMS. The first id signs; the others are published too, for
 * tokens signed before a rotation and for a key that is about to sign.
 */
export const kmsSigner = (
  keyIds: readonly [string, ...string[]],
  client: Pick<KMSClient, 'send'> = new KMSClient({
    requestHandler: {
      connectionTimeout: CONNECTION_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      throwOnRequestTimeout: true,
    },
  }),
): TokenSigner => {
  const published = new Map<string, Promise<PublicKeyJwk>>();

  const fetchKey = async (KeyId: string): Promise<PublicKeyJwk> => {
    const { PublicKey } = await client.send(new GetPublicKeyCommand({ KeyId }));
    if (PublicKey === undefined) throw new Error('KMS gave no public key');
    const key = createPublicKey({ key: Buffer.from(PublicKey), format: 'der', type: 'spki' });
    return publishedKey(key.export({ format: 'jwk' }));
  };

  /** A public key never changes, so it is asked for once; a failed call is not remembered. */
  const publicKey = (keyId: string): Promise<PublicKeyJwk> => {
    const known = published.get(keyId);
    if (known !== undefined) return known;
    const asked = fetchKey(keyId);
    published.set(keyId, asked);
    asked.catch(() => published.delete(keyId));
    return asked;
  };

  return {
    async sign(claims) {
      const [KeyId] = keyIds;
      const input = signingInput((await publicKey(KeyId)).kid, claims);
      const { Signature } = await client.send(
        new SignCommand({
          KeyId,
          SigningAlgorithm: 'ECDSA_SHA_256',
          MessageType: 'RAW',
          Message: Buffer.from(input),
        }),
      );
      if (Signature === undefined) throw new Error('KMS gave no signature');
      return `${input}.${derToJose(Signature).toString('base64url')}`;
    },
    publicKeys: async () => ({ keys: await Promise.all(keyIds.map(publicKey)) }),
  };
};
