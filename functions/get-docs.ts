import { systemClock } from '#shared/clock.ts';
import { docsPageRoutes } from '#shared/docs-page/routes.ts';
import { pagesFolder } from '#shared/env.ts';
import { endpoint, type Handle } from '#shared/http/endpoint.ts';
import type { EndpointDeps } from '#shared/http/request-scope.ts';
import { pageReader, type ReadPage } from '#shared/pages.ts';

const route = docsPageRoutes['get-docs'];

export interface GetDocsDeps extends EndpointDeps {
  readonly readPage: ReadPage;
}

export const handle: Handle<typeof route, GetDocsDeps> = async (_request, { readPage }) => ({
  status: 200,
  ...(await readPage('reference')),
});

/** Builds the dependencies from the environment. */
export const bind = (): GetDocsDeps => ({ clock: systemClock, readPage: pageReader(pagesFolder()) });

export const handler = endpoint(route, handle, bind);
