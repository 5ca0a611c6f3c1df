import { docsFileReader } from '#shared/docs/files.ts';
import { docsRoutes } from '#shared/docs/routes.ts';
import { pagesFolder } from '#shared/env.ts';
import { endpoint, type Handle } from '#shared/http/endpoint.ts';

const route = docsRoutes['get-llms'];

export const handle: Handle<typeof route, ReturnType<typeof build>> = async (_request, { read }) => ({
  status: 200,
  ...(await read('llms.txt')),
});

export const build = () => ({ read: docsFileReader(pagesFolder()) });

export const handler = endpoint(route, build, handle);
