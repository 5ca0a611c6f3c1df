import { problem } from '#shared/problems.ts';
import type { DocsFile } from './files.ts';

/** The deepest page is /docs/fa/quick-start/. */
const MAX_SEGMENTS = 5;

/**
 * Returns the relative address of the service from a path under it: `.` from /docs, `..` from /docs/ and /docs/errors, with and without the
 * stage before it. Throws `not_found` above five segments below /docs: each link of the page repeats the address.
 */
const rootFrom = (sentPath: string): string => {
  const docsPath = sentPath.slice(sentPath.search(/\/docs(?:\/|$)/));
  const segments = docsPath.split('/').length - 2;
  if (segments > MAX_SEGMENTS) throw problem('not_found');
  return Array.from({ length: segments }, () => '..').join('/') || '.';
};

/** Returns a page with the address of the service in its links. It is right under a stage, behind a proxy, and with a slash at the end of the path. */
export const servedPage = ({ headers, body }: DocsFile, sentPath: string): DocsFile => ({
  headers,
  body: body.replaceAll('{root}', rootFrom(sentPath)),
});
