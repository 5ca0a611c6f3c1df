import { accessTokenRoutes } from '#shared/access-tokens/routes.ts';
import { signerFromEnv } from '#shared/access-tokens/signer.ts';
import { endpoint, type Handle } from '#shared/http/endpoint.ts';

const route = accessTokenRoutes['get-jwks'];

export const handle: Handle<typeof route, ReturnType<typeof build>> = async (_request, { publicKeys }) => ({
  status: 200,
  headers: { 'Cache-Control': 'public, max-age=300' },
  body: await publicKeys(),
});

export const build = () => ({ publicKeys: signerFromEnv().publicKeys });

export const handler = endpoint(route, build, handle);
