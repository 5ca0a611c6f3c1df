import { systemClock } from '#shared/clock.ts';
import { docsPageRoutes } from '#shared/docs-page/routes.ts';
import { readEnv } from '#shared/env.ts';
import { endpoint, type Handle, type ResponseOf } from '#shared/http/endpoint.ts';
import type { EndpointDeps } from '#shared/http/request-scope.ts';
import openApiDocument from '../openapi.json' with { type: 'json' };

const route = docsPageRoutes['get-openapi'];

export interface GetOpenapiDeps extends EndpointDeps {
  readonly document: ResponseOf<typeof route>['body'];
}

export const handle: Handle<typeof route, GetOpenapiDeps> = async (_request, { document }) => ({
  status: 200,
  body: document,
});

/** Builds the dependencies from the environment. */
export const bind = (): GetOpenapiDeps => {
  const { RELEASE_VERSION, RELEASE_COMMIT } = readEnv(['RELEASE_VERSION', 'RELEASE_COMMIT']);
  const release = { 'x-service-version': RELEASE_VERSION, 'x-commit': RELEASE_COMMIT };
  return {
    clock: systemClock,
    document: { ...openApiDocument, info: { ...openApiDocument.info, ...release } },
  };
};

export const handler = endpoint(route, handle, bind);
