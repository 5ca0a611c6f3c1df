import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PAGE_NAMES, type Page, type PageName, pageFile } from '#shared/pages.ts';
import openApiDocument from '../../openapi.json' with { type: 'json' };
import { guidePage, notFoundPage } from './guide.ts';
import { referencePage } from './reference.ts';

const buildPage = async (name: PageName): Promise<Page> => {
  if (name === 'not-found') return notFoundPage();
  if (name === 'reference') return referencePage(openApiDocument);
  return guidePage(name, await readFile(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8'));
};

/** Builds pages, by default all of them, and writes each to a file of the folder. */
export const writePages = async (folder: string, names: readonly PageName[] = PAGE_NAMES): Promise<void> => {
  await mkdir(folder, { recursive: true });
  for (const name of names) {
    await writeFile(join(folder, pageFile(name)), JSON.stringify(await buildPage(name)));
  }
};
