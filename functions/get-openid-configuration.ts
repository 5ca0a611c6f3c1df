import { accessTokenRoutes } from '#shared/access-tokens/routes.ts';
import { issuerMetadata } from '#shared/access-tokens/rules.ts';
import { readEnv } from '#shared/env.ts';
import { endpoint, type Handle } from '#shared/http/endpoint.ts';

const route = accessTokenRoutes['get-openid-configuration'];

export const handle: Handle<typeof route, ReturnType<typeof build>> = async (_request, { tokenIssuer }) => ({
  status: 200,
  headers: { 'Cache-Control': 'public, max-age=300' },
  body: issuerMetadata(tokenIssuer, accessTokenRoutes['get-jwks'].path),
});

export const build = () => ({
  tokenIssuer: readEnv(['TOKEN_ISSUERS']).TOKEN_ISSUERS[0] as string,
});

export const handler = endpoint(route, build, handle);
