import * as v from 'valibot';

/** The answer of GET /.well-known/jwks.json (RFC 7517): public keys only. */
export const jwksSchema = v.pipe(
  v.object({
    keys: v.array(
      v.object({
        kty: v.literal('EC'),
        crv: v.literal('P-256'),
        x: v.string(),
        y: v.string(),
        kid: v.pipe(v.string(), v.description('The RFC 7638 thumbprint of the key.')),
        alg: v.literal('ES256'),
        use: v.literal('sig'),
      }),
    ),
  }),
  v.title('JsonWebKeySet'),
);

export type Jwks = v.InferOutput<typeof jwksSchema>;
