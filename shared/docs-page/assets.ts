import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { cachedPromise } from '#shared/cached-promise.ts';
import { DOCS_PAGE_FILES } from './files.ts';

/** A file as the browser gets it. */
export interface DocsPageAsset {
  readonly contentType: string;
  readonly text: string;
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
};

const contentTypeOf = (name: string): string => CONTENT_TYPES[name.split('.').at(-1) ?? ''] ?? 'text/plain';

/** Loads the files of the reference page. In a Lambda bundle they are beside the code, under their own names. */
export const docsPageAssets = (bundled: boolean) => {
  const reads = new Map(
    Object.entries(DOCS_PAGE_FILES).map(([name, module]) => [
      name,
      cachedPromise(() =>
        readFile(
          bundled ? new URL(`./${name}`, import.meta.url) : createRequire(import.meta.url).resolve(module),
          'utf8',
        ),
      ),
    ]),
  );
  return {
    /** Returns the file with this name; undefined if there is none. Reads each file once. */
    async find(name: string): Promise<DocsPageAsset | undefined> {
      const read = reads.get(name);
      return read && { contentType: contentTypeOf(name), text: await read() };
    },
  };
};

export type DocsPageAssets = ReturnType<typeof docsPageAssets>;
