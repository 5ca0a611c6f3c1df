import { docsFileReader } from '#shared/docs/files.ts';
import { docsRoutes } from '#shared/docs/routes.ts';
import { servedPage } from '#shared/docs/served-page.ts';
import { pagesFolder } from '#shared/env.ts';
import { endpoint, type Handle } from '#shared/http/endpoint.ts';

const route = docsRoutes['get-docs'];

export const handle: Handle<typeof route, ReturnType<typeof build>> = async ({ sentPath }, { read }) => ({
  status: 200,
  ...servedPage(await read('reference'), sentPath),
});

export const build = () => ({ read: docsFileReader(pagesFolder()) });

export const handler = endpoint(route, build, handle);
