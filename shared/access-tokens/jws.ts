import { createHash, type JsonWebKey } from 'node:crypto';
import type { Jwks } from './schema.ts';

/** A public key of a JSON Web Key Set. */
export type PublicKeyJwk = Jwks['keys'][number];

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Returns a compact JWS (ES256) over the claims. `sign` returns the 64 bytes `r ‖ s` of the signature (RFC 7518 §3.4). */
export const signedToken = async (
  keyId: string,
  claims: Readonly<Record<string, unknown>>,
  sign: (input: Buffer) => Buffer | Promise<Buffer>,
): Promise<string> => {
  const input = `${base64url({ alg: 'ES256', typ: 'JWT', kid: keyId })}.${base64url(claims)}`;
  return `${input}.${(await sign(Buffer.from(input))).toString('base64url')}`;
};

/** Returns a P-256 public key as a JWK. Its `kid` is the RFC 7638 thumbprint, so it depends on the key only. */
export const publishedKey = ({ crv, x, y }: JsonWebKey): PublicKeyJwk => {
  if (crv !== 'P-256' || x === undefined || y === undefined) throw new Error('not a P-256 key');
  const thumbprint = createHash('sha256')
    .update(JSON.stringify({ crv: 'P-256', kty: 'EC', x, y }))
    .digest('base64url');
  return { kty: 'EC', crv: 'P-256', x, y, kid: thumbprint, alg: 'ES256', use: 'sig' };
};
