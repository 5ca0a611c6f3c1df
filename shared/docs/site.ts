/** What the build of the site in docs/ and `get-docs`, which serves its files, agree on. */

/** In place of facts of a stage. They are replaced in each file that is served. */
export const PLACEHOLDERS = {
  /** The path of the base URL: that of the stage, or none. */
  base: '/__base__',
  /** The base URL. */
  address: 'https://address.invalid',
  /** Whom sellers ask, where they see the state of the service, and where buyers register; empty where the stage names none. */
  email: '__support_email__',
  statusUrl: '__status_url__',
  buyerAppUrl: '__buyer_app_url__',
} as const;

/** The media types by the end of a name. Another file is not served, and fails the build. */
export const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.mts': 'text/plain; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.py': 'text/x-python; charset=utf-8',
};

/** The first pages of the folders, which have no page of their own. */
export const FIRST_PAGES = { fa: 'fa/quick-start', operations: 'operations/create-user' } as const;

/** The file beside the pages that says how they were built. It is not served. */
export const BUILD_FILE = 'build.json';

export interface SiteBuild {
  /** A hash of everything that the site is built from. */
  readonly sources: string;
  /** The inline scripts of the pages, as sources of a Content-Security-Policy. */
  readonly scripts: readonly string[];
  /** The packages with code in the scripts and styles of the pages. */
  readonly packages: readonly string[];
}
