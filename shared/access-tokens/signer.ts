import { createHash, createPrivateKey, createPublicKey, type JsonWebKey, sign } from 'node:crypto';
import files from 'node:fs';
import { GetPublicKeyCommand, KMSClient, SignCommand } from '@aws-sdk/client-kms';
import { cachedPromise } from '#shared/cached-promise.ts';
import { readEnv } from '#shared/env.ts';
import { timedCall } from '#shared/request-context.ts';
import { pathIn, TIMEOUTS } from '#shared/secrets/secret-source.ts';
import type { Jwks } from './schema.ts';

/** Signs access tokens. KMS holds the private key on AWS, a file on one machine. */
export interface TokenSigner {
  sign(claims: Readonly<Record<string, unknown>>): Promise<string>;
  /** Of all tokens that may still be valid. */
  publicKeys(): Promise<Jwks>;
}

export const signerFromEnv = (): TokenSigner => {
  const [first = '', ...others] = readEnv(['SIGNING_KEYS']).SIGNING_KEYS;
  const path = pathIn(first);
  return path === undefined ? kmsSigner([first, ...others]) : keyFileSigner(path);
};

type PublicKeyJwk = Jwks['keys'][number];

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** `sign` returns the 64 bytes `r ‖ s` of the signature (RFC 7518 §3.4). */
export const signedToken = async (
  keyId: string,
  claims: Readonly<Record<string, unknown>>,
  sign: (input: Buffer) => Buffer | Promise<Buffer>,
): Promise<string> => {
  const input = `${base64url({ alg: 'ES256', typ: 'JWT', kid: keyId })}.${base64url(claims)}`;
  return `${input}.${(await sign(Buffer.from(input))).toString('base64url')}`;
};

/** The `kid` is the RFC 7638 thumbprint, so it depends on the key only. */
export const publishedKey = ({ crv, x, y }: JsonWebKey): PublicKeyJwk => {
  if (crv !== 'P-256' || x === undefined || y === undefined) throw new Error('not a P-256 key');
  const thumbprint = createHash('sha256')
    .update(JSON.stringify({ crv: 'P-256', kty: 'EC', x, y }))
    .digest('base64url');
  return { kty: 'EC', crv: 'P-256', x, y, kid: thumbprint, alg: 'ES256', use: 'sig' };
};

/** For one machine. Reads the file once. */
export const keyFileSigner = (path: string): TokenSigner => {
  const keys = cachedPromise(async () => {
    const privateKey = createPrivateKey(await files.promises.readFile(path, 'utf8'));
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

/** The first key (ECC_NIST_P256) signs. The others are published too, for tokens signed before a rotation and before a key signs. */
export const kmsSigner = (
  keyIds: readonly [string, ...string[]],
  client: Pick<KMSClient, 'send'> = new KMSClient({ requestHandler: TIMEOUTS }),
): TokenSigner => {
  const fetchPublicKey = async (KeyId: string): Promise<PublicKeyJwk> => {
    const command = new GetPublicKeyCommand({ KeyId });
    const { PublicKey } = await timedCall('kms:GetPublicKey', (abortSignal) =>
      client.send(command, { abortSignal }),
    );
    if (PublicKey === undefined) throw new Error('KMS returned no public key');
    const key = createPublicKey({ key: Buffer.from(PublicKey), format: 'der', type: 'spki' });
    return publishedKey(key.export({ format: 'jwk' }));
  };

  const [signingKeyId, ...otherKeyIds] = keyIds;
  const signingKey = cachedPromise(() => fetchPublicKey(signingKeyId));
  const otherKeys = otherKeyIds.map((keyId) => cachedPromise(() => fetchPublicKey(keyId)));

  const sign = async (Message: Buffer): Promise<Buffer> => {
    const command = new SignCommand({
      KeyId: signingKeyId,
      SigningAlgorithm: 'ECDSA_SHA_256',
      MessageType: 'RAW',
      Message,
    });
    const { Signature } = await timedCall('kms:Sign', (abortSignal) => client.send(command, { abortSignal }));
    if (Signature === undefined) throw new Error('KMS returned no signature');
    return derToJose(Signature);
  };

  return {
    sign: async (claims) => signedToken((await signingKey()).kid, claims, sign),
    publicKeys: async () => ({ keys: await Promise.all([signingKey, ...otherKeys].map((key) => key())) }),
  };
};

const COORDINATE_BYTES = 32;

const NOT_A_SIGNATURE = 'not a P-256 signature';

/** Returns a DER integer as 32 bytes. DER integers are signed and minimal: a leading zero is there only if the first bit is set. */
const toCoordinate = (integer: Buffer): Buffer => {
  const [first = 0, second = 0] = integer;
  const digits = first === 0 ? integer.subarray(1) : integer;
  const isMinimal = first === 0 ? second >= 0x80 : first < 0x80;
  if (!isMinimal || digits.length > COORDINATE_BYTES) throw new Error(NOT_A_SIGNATURE);
  return Buffer.concat([Buffer.alloc(COORDINATE_BYTES - digits.length), digits]);
};

/** Converts a signature from DER, `SEQUENCE { INTEGER r, INTEGER s }`, which KMS returns, to the form of JOSE (RFC 7518 §3.4). */
export const derToJose = (der: Uint8Array): Buffer => {
  const bytes = Buffer.from(der);
  const integerAt = (offset: number): Buffer => {
    const length = bytes[offset + 1] ?? 0;
    const integer = bytes.subarray(offset + 2, offset + 2 + length);
    if (bytes[offset] !== 0x02 || length === 0 || integer.length !== length) throw new Error(NOT_A_SIGNATURE);
    return integer;
  };
  const r = integerAt(2);
  const s = integerAt(4 + r.length);
  if (bytes[0] !== 0x30 || bytes[1] !== bytes.length - 2 || 6 + r.length + s.length !== bytes.length) {
    throw new Error(NOT_A_SIGNATURE);
  }
  return Buffer.concat([toCoordinate(r), toCoordinate(s)]);
};
