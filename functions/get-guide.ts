import { getGuideDeps } from '#shared/deps.ts';
import type { ReadPage } from '#shared/docs-page/pages.ts';
import { docsPageRoutes } from '#shared/docs-page/routes.ts';
import { endpoint, type Handle } from '#shared/http/endpoint.ts';
import type { EndpointDeps } from '#shared/http/request-scope.ts';

const route = docsPageRoutes['get-guide'];

export interface GetGuideDeps extends EndpointDeps {
  readonly readPage: ReadPage;
}

/** Returns the page of a guide. */
export const handle: Handle<typeof route, GetGuideDeps> = async ({ path }, { readPage }) => ({
  status: 200,
  ...(await readPage(path.guide)),
});

export const handler = endpoint(route, handle, getGuideDeps);
