import { accessTokenRoutes } from '#shared/access-tokens/routes.ts';
import { issuerMetadata } from '#shared/access-tokens/rules.ts';
import { systemClock } from '#shared/clock.ts';
import { readEnv } from '#shared/env.ts';
import { endpoint, type Handle } from '#shared/http/endpoint.ts';
import type { EndpointDeps } from '#shared/http/request-scope.ts';

const route = accessTokenRoutes['get-openid-configuration'];

export interface GetOpenidConfigurationDeps extends EndpointDeps {
  readonly tokenIssuer: string;
}

/** Returns the metadata of the issuer. */
export const handle: Handle<typeof route, GetOpenidConfigurationDeps> = async (
  _request,
  { tokenIssuer },
) => ({
  status: 200,
  headers: { 'Cache-Control': 'public, max-age=300' },
  body: issuerMetadata(tokenIssuer, accessTokenRoutes['get-jwks'].path),
});

/** Builds the dependencies from the environment. */
export const bind = (): GetOpenidConfigurationDeps => ({
  clock: systemClock,
  tokenIssuer: readEnv(['TOKEN_ISSUER']).TOKEN_ISSUER,
});

export const handler = endpoint(route, handle, bind);
