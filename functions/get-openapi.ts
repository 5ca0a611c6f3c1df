import { getOpenapiDeps } from '#shared/deps.ts';
import { docsPageRoutes, type OpenApiDocument } from '#shared/docs-page/routes.ts';
import { endpoint, type Request, type ResponseOf } from '#shared/http/endpoint.ts';
import type { EndpointDeps } from '#shared/http/request-scope.ts';

const route = docsPageRoutes['get-openapi'];

export interface GetOpenapiDeps extends EndpointDeps {
  readonly document: OpenApiDocument;
}

/** Returns the OpenAPI document. */
export const handle = async (
  _request: Request<typeof route>,
  { document }: GetOpenapiDeps,
): Promise<ResponseOf<typeof route>> => ({ status: 200, body: document });

export const handler = endpoint(route, handle, getOpenapiDeps);
