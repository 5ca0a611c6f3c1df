import { DOCS_PATHS, docsFileReader, isText } from '#shared/docs/files.ts';
import { docsRoutes } from '#shared/docs/routes.ts';
import { servedPage } from '#shared/docs/served-page.ts';
import { pagesFolder } from '#shared/env.ts';
import { endpoint, type Handle } from '#shared/http/endpoint.ts';
import { problem } from '#shared/problems.ts';

const route = docsRoutes['get-guide'];

/** A path without a file is a page for a browser and a problem for a program. */
export const handle: Handle<typeof route, ReturnType<typeof build>> = async (
  { path: { guide }, sentPath, acceptsHtml },
  { read },
) => {
  // API Gateway may pass the slash at the end of the path.
  const name = DOCS_PATHS.find((path) => path === guide.replace(/\/$/, ''));
  if (name !== undefined) {
    const file = await read(name);
    return { status: 200, ...(isText(name) ? file : servedPage(file, sentPath)) };
  }
  if (!acceptsHtml) throw problem('not_found');
  const { headers, body } = servedPage(await read('not-found'), sentPath);
  return { status: 404, headers: { ...headers, 'Cache-Control': 'no-store', Vary: 'Accept' }, body };
};

export const build = () => ({ read: docsFileReader(pagesFolder()) });

export const handler = endpoint(route, build, handle);
