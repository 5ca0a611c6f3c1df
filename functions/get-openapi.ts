import { getOpenapiDeps } from '#shared/deps.ts';
import { type AnswerOf, endpoint, type Request } from '#shared/http/endpoint.ts';
import type { EndpointDeps } from '#shared/http/request-scope.ts';
import type { OpenApiDocument } from '#shared/openapi/schema.ts';
import { routes } from '#shared/routes.ts';

const route = routes['get-openapi'];

export interface GetOpenapiDeps extends EndpointDeps {
  readonly document: OpenApiDocument;
}

export const handle = async (
  _request: Request<typeof route>,
  { document }: GetOpenapiDeps,
): Promise<AnswerOf<typeof route>> => ({ status: 200, body: document });

export const handler = endpoint(route, handle, getOpenapiDeps);
