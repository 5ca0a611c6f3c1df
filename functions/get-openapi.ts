import { docsRoutes } from '#shared/docs/routes.ts';
import { readEnv } from '#shared/env.ts';
import { endpoint, type Handle, type ResponseOf } from '#shared/http/endpoint.ts';
import openApiDocument from '../openapi.json' with { type: 'json' };

const route = docsRoutes['get-openapi'];

export const handle: Handle<typeof route, ReturnType<typeof build>> = async (_request, { document }) => ({
  status: 200,
  body: document,
});

export const build = () => {
  const { RELEASE_VERSION, RELEASE_COMMIT } = readEnv(['RELEASE_VERSION', 'RELEASE_COMMIT']);
  const release = { 'x-service-version': RELEASE_VERSION, 'x-commit': RELEASE_COMMIT };
  const document: ResponseOf<typeof route>['body'] = {
    ...openApiDocument,
    info: { ...openApiDocument.info, ...release },
  };
  return { document };
};

export const handler = endpoint(route, build, handle);
