import { getOpenapiDeps } from '#shared/deps.ts';
import { docsPageRoutes } from '#shared/docs-page/routes.ts';
import { endpoint, type Handle, type ResponseOf } from '#shared/http/endpoint.ts';
import type { EndpointDeps } from '#shared/http/request-scope.ts';

const route = docsPageRoutes['get-openapi'];

export interface GetOpenapiDeps extends EndpointDeps {
  readonly document: ResponseOf<typeof route>['body'];
}

/** Returns the OpenAPI document. */
export const handle: Handle<typeof route, GetOpenapiDeps> = async (_request, { document }) => ({
  status: 200,
  body: document,
});

export const handler = endpoint(route, handle, getOpenapiDeps);
