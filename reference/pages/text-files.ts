/** The files under /docs that are no pages: the Markdown of the guides, and what programs read. */
import { readFile } from 'node:fs/promises';
import {
  type DocsFile,
  GUIDE_NAMES,
  type GuideName,
  TEXT_FILE_NAMES,
  TEXT_FILES,
  type TextFileName,
} from '#shared/docs/files.ts';
import openApiDocument from '../../openapi.json' with { type: 'json' };
import { clientModule, clientTypes, pythonModule } from './client-files.ts';
import { languageOf, TITLES } from './contents.ts';
import { guideEntries, guideFile, guideMarkdown } from './guide-page.ts';
import { keyEntries } from './key-page.ts';
import { referenceEntries } from './reference-page.ts';
import { type Site, textFor } from './site.ts';

export const readGuide = async (name: GuideName, site: Site): Promise<string> =>
  textFor(site, await readFile(new URL(`../../${guideFile(name)}`, import.meta.url), 'utf8'));

/** Of the changelog only the beginning is searched: what it tells stands in the guides. */
const searched = (name: GuideName, text: string): string =>
  name === 'changelog' ? (text.split(/^## /m)[0] ?? '') : text;

/** Builds the index of the search over the reference page, all guides and the page of a key. */
const searchIndex = async (site: Site): Promise<string> => {
  const guides = await Promise.all(
    GUIDE_NAMES.map(async (name) => guideEntries(name, searched(name, await readGuide(name, site)))),
  );
  return JSON.stringify([...referenceEntries(openApiDocument), ...guides.flat(), ...keyEntries()]);
};

/** The builder of each text file. One that is named in TEXT_FILES is served; this is the only other place that it needs. */
const BUILDERS: Readonly<Record<TextFileName, (site: Site) => Promise<string>>> = {
  search: searchIndex,
  'buyer-linking-client.mjs': clientModule,
  'buyer-linking-client.d.mts': clientTypes,
  'buyer_linking.py': pythonModule,
};

const asText = (mediaType: string, body: string): DocsFile => ({
  headers: {
    'Content-Type': mediaType,
    'Cache-Control': 'public, max-age=300',
    'X-Content-Type-Options': 'nosniff',
  },
  body,
});

export const textFile = async (name: TextFileName, site: Site): Promise<DocsFile> =>
  asText(TEXT_FILES[name], await BUILDERS[name](site));

/** Builds the Markdown of a guide. */
export const markdownFile = async (name: GuideName, site: Site): Promise<DocsFile> =>
  asText('text/markdown; charset=utf-8', guideMarkdown(name, await readGuide(name, site)));

const linkTo = (name: GuideName): string => `- [${TITLES[name][languageOf(name)]}](docs/${name}.md)`;

/** Builds /llms.txt (llmstxt.org): what an assistant reads first. Its links are relative, so that they are right under a stage. */
export const llmsFile = (): DocsFile => {
  const files = TEXT_FILE_NAMES.filter((name) => name !== 'search');
  const lines = [
    '# Buyer Linking',
    '',
    '> An HTTP API with JSON: link buyers to your seller account, and sign buyers in by phone.',
    '',
    '- [OpenAPI document](v1/openapi.json): every operation, field and error',
    ...files.map((name) => `- [${name}](docs/${name})`),
    '',
    '## Guides',
    '',
    ...GUIDE_NAMES.filter((name) => languageOf(name) === 'en').map(linkTo),
    '',
    '## Guides in Persian',
    '',
    ...GUIDE_NAMES.filter((name) => languageOf(name) === 'fa').map(linkTo),
    '',
  ];
  return asText('text/plain; charset=utf-8', lines.join('\n'));
};
