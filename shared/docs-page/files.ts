/** The guides and the files of the pages, as data: the route table imports it. */

/** The guides for sellers: name in the URL -> title and file. */
export const GUIDES = {
  'quick-start': { title: 'Quick start', file: 'docs/quick-start.md' },
  linking: { title: 'Linking buyers', file: 'docs/linking.md' },
  'access-tokens': { title: 'Access tokens', file: 'docs/access-tokens.md' },
  errors: { title: 'Errors', file: 'docs/errors.md' },
  limits: { title: 'Limits', file: 'docs/limits.md' },
  'test-identities': { title: 'Test identities', file: 'docs/test-identities.md' },
  versioning: { title: 'Versions', file: 'docs/versioning.md' },
} as const;

export type GuideName = keyof typeof GUIDES;

/** The names of the guides, in reading order. */
export const GUIDE_NAMES = Object.keys(GUIDES) as GuideName[];

const BROWSER = 'shared/docs-page/browser';

/** The parts of the style, in their order, and the script of every page. */
export const STYLE_FILES = ['base.css', 'operation.css', 'try.css', 'layout.css'].map(
  (name) => `${BROWSER}/${name}`,
);
export const SCRIPT_FILE = `${BROWSER}/page.js`;

/** Returns the name of a file beside the bundle. */
export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

const filesOf = (paths: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(paths.map((path) => [nameOf(path), path]));

/** The files of the reference page: name beside the bundle -> path in the repository. */
export const PAGE_FILES = filesOf([...STYLE_FILES, SCRIPT_FILE]);

/** The files of the guides. */
export const GUIDE_FILES = filesOf([
  ...STYLE_FILES,
  SCRIPT_FILE,
  ...GUIDE_NAMES.map((name) => GUIDES[name].file),
]);
