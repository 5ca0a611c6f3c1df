import { readFileSync } from 'node:fs';
import { runsInLambda } from '#shared/env.ts';
import { GUIDES, type GuideName, nameOf, SCRIPT_FILE, STYLE_FILES } from './files.ts';
import type { PageParts } from './page.ts';

/** Reads a file: in a Lambda bundle from beside the code, elsewhere from the repository. */
const readText = (path: string): string =>
  readFileSync(new URL(runsInLambda() ? `./${nameOf(path)}` : `../../${path}`, import.meta.url), 'utf8');

/** Reads the style and the script of the pages. */
export const readPageParts = (): PageParts => ({
  style: STYLE_FILES.map(readText).join(''),
  script: readText(SCRIPT_FILE),
});

/** Reads the Markdown of a guide. */
export const readGuide = (name: GuideName): string => readText(GUIDES[name].file);
