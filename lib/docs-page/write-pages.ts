import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Page, pageFile } from '#shared/docs-page/pages.ts';
import { GUIDE_NAMES, type GuideName } from '#shared/docs-page/routes.ts';
import openApiDocument from '../../openapi.json' with { type: 'json' };
import { guidePage, referencePage } from './page.ts';

const buildPage = async (name: string): Promise<Page> =>
  name === 'reference'
    ? referencePage(openApiDocument)
    : guidePage(name as GuideName, await readFile(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8'));

/** Builds pages, by default all of them, and writes each to a file of the folder. */
export const writePages = async (
  folder: string,
  names: readonly string[] = ['reference', ...GUIDE_NAMES],
): Promise<void> => {
  await mkdir(folder, { recursive: true });
  for (const name of names)
    await writeFile(join(folder, pageFile(name)), JSON.stringify(await buildPage(name)));
};
