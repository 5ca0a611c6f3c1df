import { createPublicKey } from 'node:crypto';
import { GetPublicKeyCommand, KMSClient, SignCommand } from '@aws-sdk/client-kms';
import { cachedPromise } from '#shared/cached-promise.ts';
import { currentRequest, timedCall } from '#shared/request-context.ts';
import { derToJose } from './ecdsa-signature.ts';
import { type PublicKeyJwk, publishedKey, signingInput } from './jws.ts';
import type { TokenSigner } from './port.ts';

const CONNECTION_TIMEOUT_MS = 1000;
const REQUEST_TIMEOUT_MS = 2000;

/**
 * Signs with KMS keys (ECC_NIST_P256): the private key never leaves KMS. The first id signs. The others are published too, for tokens
 * signed before a rotation and for a key that is about to sign. A public key never changes, so each is fetched once.
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
  const fetchPublicKey = async (KeyId: string): Promise<PublicKeyJwk> => {
    const command = new GetPublicKeyCommand({ KeyId });
    const { PublicKey } = await timedCall('kms:GetPublicKey', () =>
      client.send(command, { abortSignal: currentRequest()?.signal }),
    );
    if (PublicKey === undefined) throw new Error('KMS returned no public key');
    const key = createPublicKey({ key: Buffer.from(PublicKey), format: 'der', type: 'spki' });
    return publishedKey(key.export({ format: 'jwk' }));
  };

  const [signingKeyId, ...otherKeyIds] = keyIds;
  const signingKey = cachedPromise(() => fetchPublicKey(signingKeyId));
  const otherKeys = otherKeyIds.map((keyId) => cachedPromise(() => fetchPublicKey(keyId)));

  return {
    async sign(claims) {
      const input = signingInput((await signingKey()).kid, claims);
      const command = new SignCommand({
        KeyId: signingKeyId,
        SigningAlgorithm: 'ECDSA_SHA_256',
        MessageType: 'RAW',
        Message: Buffer.from(input),
      });
      const { Signature } = await timedCall('kms:Sign', () =>
        client.send(command, { abortSignal: currentRequest()?.signal }),
      );
      if (Signature === undefined) throw new Error('KMS returned no signature');
      return `${input}.${derToJose(Signature).toString('base64url')}`;
    },
    publicKeys: async () => ({ keys: await Promise.all([signingKey, ...otherKeys].map((key) => key())) }),
  };
};
