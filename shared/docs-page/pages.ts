/** The reference page and the guides. lib/docs-page/ builds them with the bundles, and the functions read them. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The guides for sellers, in reading order: `docs/<name>.md`. */
export const GUIDE_NAMES = [
  'quick-start',
  'linking',
  'access-tokens',
  'errors',
  'limits',
  'test-identities',
  'versioning',
] as const;

export type GuideName = (typeof GUIDE_NAMES)[number];
export type PageName = 'reference' | GuideName;

/** A finished page: the headers and the body of its response. */
export interface Page {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Returns the name of a page's file. */
export const pageFile = (name: PageName): string => `${name}.json`;

/** Returns a function that reads a page from its file in this folder. */
export const pageReader =
  (folder: string) =>
  async (name: PageName): Promise<Page> =>
    JSON.parse(await readFile(join(folder, pageFile(name)), 'utf8'));

export type ReadPage = ReturnType<typeof pageReader>;
