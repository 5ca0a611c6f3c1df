import { type Row, routeRows } from '#shared/route.ts';
import { issuerMetadataSchema, jwksSchema } from './schema.ts';

export const accessTokenRoutes = routeRows('Access tokens', {
  'get-jwks': {
    method: 'GET',
    path: '/.well-known/jwks.json',
    access: { by: 'public' },
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
    check: { expects: 200 },
    permissions: { signingKey: 'publish' },
  },
  'get-openid-configuration': {
    method: 'GET',
    path: '/.well-known/openid-configuration',
    access: { by: 'public' },
    summary: 'The issuer of access tokens',
    description:
      'The metadata of the issuer (OpenID Connect Discovery 1.0): enough for a library that verifies tokens by an issuer URL.',
    responses: {
      200: {
        description: 'The metadata.',
        schema: issuerMetadataSchema,
        headers: { 'Cache-Control': 'public, max-age=300.' },
      },
    },
    check: { expects: 200 },
    permissions: { tokenIssuer: true },
  },
} as const satisfies Record<string, Row>);
