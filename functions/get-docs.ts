import { getDocsDeps } from '#shared/deps.ts';
import { pageHeaders } from '#shared/docs-page/headers.ts';
import type { Page } from '#shared/docs-page/page.ts';
import { docsPageRoutes } from '#shared/docs-page/routes.ts';
import { endpoint, type Request, type ResponseOf } from '#shared/http/endpoint.ts';
import type { EndpointDeps } from '#shared/http/request-scope.ts';

const route = docsPageRoutes['get-docs'];

export interface GetDocsDeps extends EndpointDeps {
  readonly page: Page;
}

/** Returns the reference page. */
export const handle = async (
  _request: Request<typeof route>,
  { page }: GetDocsDeps,
): Promise<ResponseOf<typeof route>> => ({ status: 200, headers: pageHeaders(page), body: page.html });

export const handler = endpoint(route, handle, getDocsDeps);
