/** What is served under /docs: pages for people, and text files for programs. reference/pages/ builds the files with the bundles. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cachedPromise } from '#shared/cached-promise.ts';

/** The guides for sellers, in reading order. */
export const GUIDE_NAMES = [
  'quick-start',
  'sign-in',
  'linking',
  'returning-buyer',
  'keep-in-step',
  'access-tokens',
  'buyer-app',
  'typescript-client',
  'other-languages',
  'errors',
  'limits',
  'your-key',
  'test-identities',
  'what-there-is-not',
  'versioning',
  'changelog',
  'glossary',
  'fa/quick-start',
  'fa/sign-in',
  'fa/linking',
  'fa/returning-buyer',
  'fa/errors',
  'fa/limits',
  'fa/your-key',
  'fa/test-identities',
] as const;

export type GuideName = (typeof GUIDE_NAMES)[number];

type MarkdownName = `${GuideName}.md`;

/** Each guide has its Markdown too. */
export const MARKDOWN_NAMES = GUIDE_NAMES.map((name): MarkdownName => `${name}.md`);

/** The other text files under /docs: name -> media type. reference/pages/text-files.ts has the builder of each. */
export const TEXT_FILES = {
  /** The index of the search of every page. */
  search: 'application/json',
  /** The client, and its types. */
  'buyer-linking-client.mjs': 'text/javascript; charset=utf-8',
  'buyer-linking-client.d.mts': 'text/plain; charset=utf-8',
  'buyer_linking.py': 'text/x-python; charset=utf-8',
} as const;

export type TextFileName = keyof typeof TEXT_FILES;

export const TEXT_FILE_NAMES = Object.keys(TEXT_FILES) as readonly TextFileName[];

/** The paths under /docs: the guides, the page of a key, the Markdown and the other text files. */
export const DOCS_PATHS = [...GUIDE_NAMES, 'key', ...MARKDOWN_NAMES, ...TEXT_FILE_NAMES] as const;

/** The files of the function that serves them. The last one is for a path that has no file. */
export const GUIDE_FILES = [...DOCS_PATHS, 'not-found'] as const;

export const DOCS_FILE_NAMES = ['reference', 'llms.txt', ...GUIDE_FILES] as const;

export type DocsFileName = (typeof DOCS_FILE_NAMES)[number];

/** Whether a file is served as it is, with a media type of its own. Every other one is a page. */
export const isText = (name: DocsFileName): boolean =>
  name.endsWith('.md') || Object.hasOwn(TEXT_FILES, name);

/** A file as it is served. In a page `{root}` stands for the relative address of the service. */
export interface DocsFile {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Returns where a function finds a file: `fa/quick-start` -> `fa.quick-start.json`. */
export const storedName = (name: DocsFileName): string => `${name.replace('/', '.')}.json`;

/** Reads each file of a folder once. */
export const docsFileReader = (folder: string) => {
  const reads = new Map(
    DOCS_FILE_NAMES.map((name) => [
      name,
      cachedPromise(
        async (): Promise<DocsFile> => JSON.parse(await readFile(join(folder, storedName(name)), 'utf8')),
      ),
    ]),
  );
  return async (name: DocsFileName): Promise<DocsFile> => (reads.get(name) as () => Promise<DocsFile>)();
};
