import { readFileSync } from 'node:fs';
import { runsInLambda } from '#shared/env.ts';
import { GUIDES, type GuideName, nameOf, SCRIPT_FILE, STYLE_FILES } from './files.ts';
import { isGuideName } from './guide.ts';
import { guidePage, type Page, type PageParts } from './page.ts';

/** Reads a file: in a Lambda bundle from beside the code, elsewhere from the repository. */
const readText = (path: string): string =>
  readFileSync(new URL(runsInLambda() ? `./${nameOf(path)}` : `../../${path}`, import.meta.url), 'utf8');

/** Reads the style and the script of the pages. */
export const readPageParts = (): PageParts => ({
  style: STYLE_FILES.map(readText).join(''),
  script: readText(SCRIPT_FILE),
});

/** Returns a function that builds the page of a guide when it is first requested; undefined for any other name. */
export const guidesOf = (parts: PageParts) => {
  const built = new Map<GuideName, Page>();
  return (name: string): Page | undefined => {
    if (!isGuideName(name)) return undefined;
    const page = built.get(name) ?? guidePage(name, readText(GUIDES[name].file), parts);
    built.set(name, page);
    return page;
  };
};
