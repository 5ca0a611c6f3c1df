import { docsRoutes } from '#shared/docs/routes.ts';
import { endpoint, type Handle } from '#shared/http/endpoint.ts';

const route = docsRoutes['get-root'];

/** A relative Location would lose the stage: without a slash, /dev is not the folder of docs. */
export const handle: Handle<typeof route, undefined> = async ({ sentPath }) => {
  const stage = sentPath.split('/').filter((segment) => segment !== '');
  return { status: 302, headers: { Location: `/${[...stage, 'docs'].join('/')}` } };
};

export const handler = endpoint(route, () => undefined, handle);
