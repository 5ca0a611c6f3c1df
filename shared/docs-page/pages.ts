import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PageName } from './routes.ts';

/** A finished page: the headers and the body of its response. */
export interface Page {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Returns the name of a page's file. */
export const pageFile = (name: string): string => `${name}.json`;

/** Returns a function that reads a page that lib/docs-page/ has written to this folder. */
export const pageReader =
  (folder: string) =>
  async (name: PageName): Promise<Page> =>
    JSON.parse(await readFile(join(folder, pageFile(name)), 'utf8'));

export type ReadPage = ReturnType<typeof pageReader>;
