import { GUIDE_PATHS, pageReader } from '#shared/docs-page/page-files.ts';
import { docsPageRoutes } from '#shared/docs-page/routes.ts';
import { pagesFolder } from '#shared/env.ts';
import { endpoint, type Handle } from '#shared/http/endpoint.ts';
import { problem } from '#shared/problems.ts';

const route = docsPageRoutes['get-guide'];

type GuidePath = (typeof GUIDE_PATHS)[number];

const isServed = (path: string): path is GuidePath => (GUIDE_PATHS as readonly string[]).includes(path);

/** A path without a guide is a page for a browser and a problem for a program. */
export const handle: Handle<typeof route, ReturnType<typeof build>> = async (
  { path: { guide }, acceptsHtml },
  { readPage },
) => {
  if (isServed(guide)) return { status: 200, ...(await readPage(guide)) };
  if (!acceptsHtml) throw problem('not_found');
  const { headers, body } = await readPage('not-found');
  // The path from the requested address to /docs/.
  const up = '../'.repeat(guide.split('/').length - 1);
  return {
    status: 404,
    headers: { ...headers, 'Cache-Control': 'no-store', Vary: 'Accept' },
    body: body.replaceAll('{up}', up),
  };
};

export const build = () => ({ readPage: pageReader(pagesFolder()) });

export const handler = endpoint(route, build, handle);
