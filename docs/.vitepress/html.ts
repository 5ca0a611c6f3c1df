import { PLACEHOLDERS } from '../../shared/docs/site.ts';
import { operations, successesOf } from './openapi.ts';

/** Ids that vitepress-openapi takes from `Math.random()`, for the media type of the response that is shown first. */
const RANDOM_ID = /(?<=for=")content-type-[a-z0-9]*(?=")/g;

/** Gives ids that are random the same name in each build, so that two builds of the same sources are equal. */
const withSameIds = (html: string, page: string): string => {
  const operation = operations.find(({ operationId }) => page === `operations/${operationId}.md`);
  const [[, first] = []] = operation ? successesOf(operation) : [];
  const expected = first?.content === undefined ? 0 : 1;
  const { length } = [...html.matchAll(RANDOM_ID)];
  if (length !== expected)
    throw new Error(
      `${page} has ${length} random ids of vitepress-openapi, and not ${expected}: see html.ts`,
    );
  return html.replace(RANDOM_ID, 'content-type-of-response');
};

/** VitePress writes the text of its 404 page in the browser. */
const NOT_FOUND = `<noscript><h1>Page not found</h1><p><a href="${PLACEHOLDERS.base}/docs">First page</a></p></noscript>`;

/** Returns the HTML of a page as it is published. */
export const publishedHtml = (html: string, page: string): string => {
  if (page === '404.md') return html.replace('<body>', `<body>${NOT_FOUND}`);
  // The first page is served at /docs too, from where `./linking` leads out of the site.
  const linked = page === 'index.md' ? html.replaceAll('href="./', `href="${PLACEHOLDERS.base}/docs/`) : html;
  return withSameIds(linked, page);
};
