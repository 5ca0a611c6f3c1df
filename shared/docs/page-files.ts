/** reference/pages/ builds the pages with the bundles. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cachedPromise } from '#shared/cached-promise.ts';

/** The guides for sellers, in reading order. */
export const GUIDE_NAMES = [
  'quick-start',
  'sign-in',
  'linking',
  'keep-in-step',
  'access-tokens',
  'buyer-app',
  'typescript-client',
  'other-languages',
  'errors',
  'limits',
  'your-key',
  'test-identities',
  'versioning',
  'decision-order',
  'glossary',
  'fa/quick-start',
  'fa/sign-in',
  'fa/linking',
  'fa/errors',
  'fa/limits',
  'fa/your-key',
  'fa/test-identities',
] as const;

export type GuideName = (typeof GUIDE_NAMES)[number];

/** What is served under /docs: the guides, the page of a key, and the index that the search of every page loads. */
export const GUIDE_PATHS = [...GUIDE_NAMES, 'key', 'search'] as const;

/** The pages of the function that serves them. The last one is for a path that has no guide. */
export const GUIDE_PAGES = [...GUIDE_PATHS, 'not-found'] as const;

export const PAGE_NAMES = ['reference', ...GUIDE_PAGES] as const;

export type PageName = (typeof PAGE_NAMES)[number];

export interface Page {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export const pageFile = (name: PageName): string => `${name.replace('/', '.')}.json`;

/** Reads each page from its file once. */
export const pageReader = (folder: string) => {
  const reads = new Map(
    PAGE_NAMES.map((name) => [
      name,
      cachedPromise(
        async (): Promise<Page> => JSON.parse(await readFile(join(folder, pageFile(name)), 'utf8')),
      ),
    ]),
  );
  return async (name: PageName): Promise<Page> => (reads.get(name) as () => Promise<Page>)();
};
