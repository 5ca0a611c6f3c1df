import { getDocsDeps } from '#shared/deps.ts';
import type { DocsPage } from '#shared/docs-page/page.ts';
import { docsPageRoutes } from '#shared/docs-page/routes.ts';
import { endpoint, type Request, type ResponseOf } from '#shared/http/endpoint.ts';
import type { EndpointDeps } from '#shared/http/request-scope.ts';

const route = docsPageRoutes['get-docs'];

export interface GetDocsDeps extends EndpointDeps {
  readonly page: DocsPage;
}

/** Returns the reference page. */
export const handle = async (
  _request: Request<typeof route>,
  { page }: GetDocsDeps,
): Promise<ResponseOf<typeof route>> => ({
  status: 200,
  headers: {
    'Cache-Control': 'public, max-age=300',
    'Content-Security-Policy': page.contentSecurityPolicy,
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
  },
  body: page.html,
});

export const handler = endpoint(route, handle, getDocsDeps);
