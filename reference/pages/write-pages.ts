import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  GUIDE_NAMES,
  type GuideName,
  PAGE_NAMES,
  type Page,
  type PageName,
  pageFile,
} from '#shared/docs-page/page-files.ts';
import { allRoutes } from '#shared/routes.ts';
import openApiDocument from '../../openapi.json' with { type: 'json' };
import { guideEntries, guideFile, guidePage, notFoundPage } from './guide.ts';
import { keyEntries, keyPage } from './key-page.ts';
import { referenceEntries, referencePage } from './reference.ts';

const readGuide = (name: GuideName): Promise<string> =>
  readFile(new URL(`../../${guideFile(name)}`, import.meta.url), 'utf8');

/** Builds the index of the search over the reference page, all guides and the page of a key. */
const buildSearch = async (): Promise<Page> => {
  const guides = await Promise.all(
    GUIDE_NAMES.map(async (name) => guideEntries(name, await readGuide(name))),
  );
  return {
    headers: { 'Content-Type': 'application/json', 'Cache-Control': 'public, max-age=300' },
    body: JSON.stringify([...referenceEntries(openApiDocument), ...guides.flat(), ...keyEntries()]),
  };
};

const buildPage = async (name: PageName): Promise<Page> => {
  if (name === 'reference') return referencePage(openApiDocument);
  if (name === 'not-found') return notFoundPage();
  if (name === 'search') return buildSearch();
  if (name === 'key') return keyPage();
  return guidePage(name, await readGuide(name));
};

/** Builds pages, by default all of them, and writes each to a file of the folder. */
export const writePages = async (folder: string, names: readonly PageName[] = PAGE_NAMES): Promise<void> => {
  await mkdir(folder, { recursive: true });
  for (const name of names) {
    await writeFile(join(folder, pageFile(name)), JSON.stringify(await buildPage(name)));
  }
};

/** Writes into the folder of each bundled function the pages that its row names. */
export const addPages = async (folderOf: (name: string) => string): Promise<void> => {
  for (const { name, permissions } of allRoutes) {
    if (permissions.pages) await writePages(folderOf(name), permissions.pages);
  }
};
