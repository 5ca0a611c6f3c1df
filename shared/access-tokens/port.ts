import type { Jwks } from './schema.ts';

/** Signs access tokens. The private key is the provider's: KMS in AWS, a file on one machine. */
export interface TokenSigner {
  /** A compact JWS (ES256) over the claims, with the `kid` of the current key in its header. */
  sign(claims: Readonly<Record<string, unknown>>): Promise<string>;
  /** The public keys of every token that may still be alive. */
  publicKeys(): Promise<Jwks>;
}
