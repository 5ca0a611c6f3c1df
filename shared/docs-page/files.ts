/**
 * The files that the reference page loads: name in the URL -> path in node_modules. The name contains the version, so a browser may
 * cache the file for a year. A test compares the version with the installed one.
 */
export const DOCS_PAGE_FILES = {
  'swagger-ui-5.35.0.js': 'swagger-ui-dist/swagger-ui-bundle.js',
  'swagger-ui-5.35.0.css': 'swagger-ui-dist/swagger-ui.css',
  'swagger-ui-bundle.js.LICENSE.txt': 'swagger-ui-dist/swagger-ui-bundle.js.LICENSE.txt',
} as const;

export type DocsPageFile = keyof typeof DOCS_PAGE_FILES;
