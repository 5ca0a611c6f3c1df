import { getGuideDeps } from '#shared/deps.ts';
import { pageHeaders } from '#shared/docs-page/headers.ts';
import type { Page } from '#shared/docs-page/page.ts';
import { docsPageRoutes } from '#shared/docs-page/routes.ts';
import { endpoint, type Request, type ResponseOf } from '#shared/http/endpoint.ts';
import type { EndpointDeps } from '#shared/http/request-scope.ts';
import { problem } from '#shared/problems.ts';

const route = docsPageRoutes['get-guide'];

export interface GetGuideDeps extends EndpointDeps {
  readonly guideOf: (name: string) => Page | undefined;
}

/** Returns the page of a guide. Throws `not_found` for any other name. */
export const handle = async (
  { path }: Request<typeof route>,
  { guideOf }: GetGuideDeps,
): Promise<ResponseOf<typeof route>> => {
  const page = guideOf(path.guide);
  if (page === undefined) throw problem('not_found');
  return { status: 200, headers: pageHeaders(page), body: page.html };
};

export const handler = endpoint(route, handle, getGuideDeps);
