/**
 * The files that the reference page loads: the name in its URL -> the module that npm put it in. A name holds the version, so a
 * browser may keep a file for ever; a test holds the version to the one that is installed.
 */
export const DOCS_PAGE_FILES = {
  'swagger-ui-5.35.0.js': 'swagger-ui-dist/swagger-ui-bundle.js',
  'swagger-ui-5.35.0.css': 'swagger-ui-dist/swagger-ui.css',
  'swagger-ui-bundle.js.LICENSE.txt': 'swagger-ui-dist/swagger-ui-bundle.js.LICENSE.txt',
} as const;

export type DocsPageFile = keyof typeof DOCS_PAGE_FILES;
