import { getDocsDeps } from '#shared/deps.ts';
import type { ReadPage } from '#shared/docs-page/pages.ts';
import { docsPageRoutes } from '#shared/docs-page/routes.ts';
import { endpoint, type Handle } from '#shared/http/endpoint.ts';
import type { EndpointDeps } from '#shared/http/request-scope.ts';

const route = docsPageRoutes['get-docs'];

export interface GetDocsDeps extends EndpointDeps {
  readonly readPage: ReadPage;
}

/** Returns the reference page. */
export const handle: Handle<typeof route, GetDocsDeps> = async (_request, { readPage }) => ({
  status: 200,
  ...(await readPage('reference')),
});

export const handler = endpoint(route, handle, getDocsDeps);
