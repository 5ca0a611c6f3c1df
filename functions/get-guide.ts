import { systemClock } from '#shared/clock.ts';
import { docsPageRoutes } from '#shared/docs-page/routes.ts';
import { pagesFolder } from '#shared/env.ts';
import { endpoint, type Handle } from '#shared/http/endpoint.ts';
import type { EndpointDeps } from '#shared/http/request-scope.ts';
import { pageReader, type ReadPage } from '#shared/pages.ts';

const route = docsPageRoutes['get-guide'];

export interface GetGuideDeps extends EndpointDeps {
  readonly readPage: ReadPage;
}

/** Returns the page of a guide. */
export const handle: Handle<typeof route, GetGuideDeps> = async ({ path }, { readPage }) => ({
  status: 200,
  ...(await readPage(path.guide)),
});

/** Builds the dependencies from the environment. */
export const bind = (): GetGuideDeps => ({ clock: systemClock, readPage: pageReader(pagesFolder()) });

export const handler = endpoint(route, handle, bind);
