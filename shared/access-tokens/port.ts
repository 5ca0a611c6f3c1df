import type { Jwks } from './schema.ts';

/** Signs access tokens. KMS holds the private key on AWS, a file on one machine. */
export interface TokenSigner {
  /** Returns a compact JWS (ES256) over the claims, with the `kid` of the signing key in its header. */
  sign(claims: Readonly<Record<string, unknown>>): Promise<string>;
  /** Returns the public keys of all tokens that may still be valid. */
  publicKeys(): Promise<Jwks>;
}
