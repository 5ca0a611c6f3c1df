import { pageReader } from '#shared/docs-page/page-files.ts';
import { docsPageRoutes } from '#shared/docs-page/routes.ts';
import { pagesFolder } from '#shared/env.ts';
import { endpoint, type Handle } from '#shared/http/endpoint.ts';

const route = docsPageRoutes['get-docs'];

export const handle: Handle<typeof route, ReturnType<typeof build>> = async (_request, { readPage }) => ({
  status: 200,
  ...(await readPage('reference')),
});

export const build = () => ({ readPage: pageReader(pagesFolder()) });

export const handler = endpoint(route, build, handle);
