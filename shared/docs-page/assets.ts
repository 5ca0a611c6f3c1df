import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { DOCS_PAGE_FILES, type DocsPageFile } from './files.ts';

/** A file as the page's browser gets it. */
export interface DocsPageAsset {
  readonly contentType: string;
  readonly text: string;
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
};

const isKnown = (name: string): name is DocsPageFile => Object.hasOwn(DOCS_PAGE_FILES, name);

/** In the Lambda bundle the files lie beside the code, under their own names; elsewhere npm knows where they are. */
const placeOf = (name: DocsPageFile, bundled: boolean): string | URL =>
  bundled
    ? new URL(`./${name}`, import.meta.url)
    : createRequire(import.meta.url).resolve(DOCS_PAGE_FILES[name]);

/** The files of the reference page by name; undefined for any other name. Each is read once. */
export const docsPageAssets = (bundled: boolean) => {
  const texts = new Map<DocsPageFile, Promise<string>>();
  return {
    async find(name: string): Promise<DocsPageAsset | undefined> {
      if (!isKnown(name)) return undefined;
      const reading = texts.get(name) ?? readFile(placeOf(name, bundled), 'utf8');
      texts.set(name, reading);
      return {
        contentType: CONTENT_TYPES[name.split('.').at(-1) ?? ''] ?? 'text/plain',
        text: await reading,
      };
    },
  };
};

export type DocsPageAssets = ReturnType<typeof docsPageAssets>;
