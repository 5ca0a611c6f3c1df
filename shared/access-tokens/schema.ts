import * as v from 'valibot';
import { shown } from '#shared/fields.ts';

export const jwksSchema = v.pipe(
  v.object({
    keys: v.array(
      v.object({
        kty: v.literal('EC'),
        crv: v.literal('P-256'),
        x: v.pipe(v.string(), v.examples(['f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU'])),
        y: v.pipe(v.string(), v.examples(['x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0'])),
        kid: shown('The RFC 7638 thumbprint of the key.', 'oKIywvGUpTVTyxMQ3bwIIeQUudfr_CkLMjCE19ECD-U'),
        alg: v.literal('ES256'),
        use: v.literal('sig'),
      }),
    ),
  }),
  v.title('JsonWebKeySet'),
);

export type Jwks = v.InferOutput<typeof jwksSchema>;

const strings = (description: string, examples: string[]) =>
  v.pipe(v.array(v.string()), v.description(description), v.examples([examples]));

export const issuerMetadataSchema = v.pipe(
  v.object({
    issuer: shown('The `iss` of new access tokens.', 'https://api.example.com'),
    jwks_uri: shown('The URL of the public keys.', 'https://api.example.com/.well-known/jwks.json'),
    authorization_endpoint: shown(
      'A required field of the format. There is no such endpoint: buyers sign in by one-time codes.',
      'urn:buyer-linking:one-time-code',
    ),
    response_types_supported: strings('A required field of the format.', ['id_token']),
    subject_types_supported: strings('A phone number has the same `sub` in the tokens of all sellers.', [
      'public',
    ]),
    id_token_signing_alg_values_supported: strings('The algorithm of the signatures.', ['ES256']),
    claims_supported: strings('The claims of every access token.', ['iss', 'sub', 'aud']),
  }),
  v.title('OpenIdConfiguration'),
);
