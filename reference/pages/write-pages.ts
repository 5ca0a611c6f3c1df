import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  DOCS_FILE_NAMES,
  type DocsFile,
  type DocsFileName,
  GUIDE_NAMES,
  storedName,
  TEXT_FILE_NAMES,
} from '#shared/docs/files.ts';
import { allRoutes } from '#shared/routes.ts';
import openApiDocument from '../../openapi.json' with { type: 'json' };
import { guidePage, notFoundPage } from './guide-page.ts';
import { keyPage } from './key-page.ts';
import { referencePage } from './reference-page.ts';
import type { Site, Support } from './site.ts';
import { llmsFile, markdownFile, readGuide, textFile } from './text-files.ts';

type Builder = (site: Site) => DocsFile | Promise<DocsFile>;

const BUILDERS: ReadonlyMap<DocsFileName, Builder> = new Map<DocsFileName, Builder>([
  ['reference', (site) => referencePage(openApiDocument, site)],
  ['key', keyPage],
  ['not-found', notFoundPage],
  ['llms.txt', llmsFile],
  ...GUIDE_NAMES.flatMap((name): [DocsFileName, Builder][] => [
    [name, async (site) => guidePage(name, await readGuide(name, site), site)],
    [`${name}.md`, (site) => markdownFile(name, site)],
  ]),
  ...TEXT_FILE_NAMES.map((name): [DocsFileName, Builder] => [name, (site) => textFile(name, site)]),
]);

const build = (name: DocsFileName, site: Site): DocsFile | Promise<DocsFile> => {
  const builder = BUILDERS.get(name);
  if (builder === undefined) throw new Error(`nothing builds ${name}`);
  return builder(site);
};

/** Builds pages and text files, by default all of them, and writes each to a file of the folder. */
export const writePages = async (
  folder: string,
  site: Site,
  names: readonly DocsFileName[] = DOCS_FILE_NAMES,
): Promise<void> => {
  await mkdir(folder, { recursive: true });
  for (const name of names) {
    await writeFile(join(folder, storedName(name)), JSON.stringify(await build(name, site)));
  }
};

/** Writes into the folder of each bundled function the files that its row names. */
export const addPages = async (
  folderOf: (name: string) => string,
  support: Support | null,
): Promise<void> => {
  for (const { name, permissions } of allRoutes) {
    if (permissions.docs) await writePages(folderOf(name), { isLocal: false, support }, permissions.docs);
  }
};
