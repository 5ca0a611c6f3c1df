import type { Route } from '#shared/route.ts';
import { jwksSchema } from './schema.ts';

export const accessTokenRoutes = {
  'get-jwks': {
    name: 'get-jwks',
    method: 'GET',
    path: '/.well-known/jwks.json',
    access: { by: 'public' },
    tag: 'Access tokens',
    summary: 'The public keys of access tokens',
    description: 'A JSON Web Key Set (RFC 7517). Any JOSE library verifies an access token with it.',
    responses: {
      200: {
        description: 'The keys.',
        schema: jwksSchema,
        headers: {
          'Cache-Control': 'public, max-age=300: a key is published at least that long before it signs.',
        },
      },
    },
    problems: [],
    permissions: { signingKey: 'publish' },
    memoryMb: 512,
    timeoutSeconds: 10,
    impact: 'Sellers cannot verify access tokens once their cached keys expire.',
  },
} as const satisfies Record<string, Route>;
