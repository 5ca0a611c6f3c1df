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
  const env = readEnv(['RELEASE_VERSION', 'RELEASE_COMMIT', 'SUPPORT_EMAIL', 'STATUS_URL']);
  const release = { 'x-service-version': env.RELEASE_VERSION, 'x-commit': env.RELEASE_COMMIT };
  const contact = { email: env.SUPPORT_EMAIL, url: env.STATUS_URL };
  const document: ResponseOf<typeof route>['body'] = {
    ...openApiDocument,
    info: { ...openApiDocument.info, ...release, ...(env.SUPPORT_EMAIL && { contact }) },
  };
  return { document };
};

export const handler = endpoint(route, build, handle);
