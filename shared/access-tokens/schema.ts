import * as v from 'valibot';

/** The answer of GET /.well-known/jwks.json (RFC 7517): public keys only. */
export const jwksSchema = v.pipe(
  v.object({
    keys: v.array(
      v.object({
        kty: v.literal('EC'),
        crv: v.literal('P-256'),
        x: v.pipe(v.string(), v.examples(['f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU'])),
        y: v.pipe(v.string(), v.examples(['x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0'])),
        kid: v.pipe(
          v.string(),
          v.description('The RFC 7638 thumbprint of the key.'),
          v.examples(['oKIywvGUpTVTyxMQ3bwIIeQUudfr_CkLMjCE19ECD-U']),
        ),
        alg: v.literal('ES256'),
        use: v.literal('sig'),
      }),
    ),
  }),
  v.title('JsonWebKeySet'),
);

export type Jwks = v.InferOutput<typeof jwksSchema>;
