import { signerFromEnv } from '#shared/access-tokens/from-env.ts';
import type { TokenSigner } from '#shared/access-tokens/port.ts';
import { accessTokenRoutes } from '#shared/access-tokens/routes.ts';
import { systemClock } from '#shared/clock.ts';
import { endpoint, type Handle } from '#shared/http/endpoint.ts';
import type { EndpointDeps } from '#shared/http/request-scope.ts';

const route = accessTokenRoutes['get-jwks'];

export interface GetJwksDeps extends EndpointDeps {
  readonly signer: Pick<TokenSigner, 'publicKeys'>;
}

/** Returns the public keys of access tokens. */
export const handle: Handle<typeof route, GetJwksDeps> = async (_request, { signer }) => ({
  status: 200,
  headers: { 'Cache-Control': 'public, max-age=300' },
  body: await signer.publicKeys(),
});

/** Builds the dependencies from the environment. */
export const bind = (): GetJwksDeps => ({ clock: systemClock, signer: signerFromEnv() });

export const handler = endpoint(route, handle, bind);
