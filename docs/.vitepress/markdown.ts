/** Each page as Markdown, and the list of them, for programs that read instead of people. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PLACEHOLDERS } from '../../shared/docs/site.ts';
import { entryOf, GUIDES, guideMarkdown, PERSIAN_GUIDES } from './guides.ts';
import { info, operations } from './openapi.ts';
import { operationMarkdown } from './operation-markdown.ts';

const ENTITIES: Readonly<Record<string, string>> = {
  '&quot;': '"',
  '&lt;': '<',
  '&gt;': '>',
  '&amp;': '&',
  '&#95;': '_',
};

/** Returns Markdown without the tags of a page: those around Persian text, and components. Code in tags gets backticks. */
const withoutTags = (markdown: string): string =>
  markdown
    .replace(/^<\/?(?:div|KeyPage)[^>]*>\n+/gm, '')
    .replace(
      /<code[^>]*>(.*?)<\/code>/g,
      (_, code: string) => `\`${code.replace(/&#?\w+;/g, (name) => ENTITIES[name] ?? name)}\``,
    );

const linkTo = (title: string, name: string): string => `- [${title}](${PLACEHOLDERS.base}/docs/${name}.md)`;

const listOf = (title: string, links: readonly string[]): string => `## ${title}\n\n${links.join('\n')}`;

const guideList = (title: string, names: readonly string[]): string =>
  listOf(
    title,
    names.map((name) => linkTo(entryOf(name).text, name)),
  );

/** The list of https://llmstxt.org. */
const llmsText = (description: string): string =>
  [
    `# ${info.title}`,
    `> ${description}`,
    `The OpenAPI document: ${PLACEHOLDERS.address}/v1/openapi.json`,
    ...Object.entries(GUIDES).map(([title, names]) => guideList(title, names)),
    listOf(
      'Operations',
      operations.map(({ method, path, summary, operationId }) =>
        linkTo(`${method} ${path}: ${summary}`, `operations/${operationId}`),
      ),
    ),
    guideList('فارسی', PERSIAN_GUIDES),
    '',
  ].join('\n\n');

/** Writes `<page>.md` for each page, and llms.txt. */
export const writeMarkdown = async (folder: string, description: string): Promise<void> => {
  const guides = ['index', ...Object.values(GUIDES).flat(), ...PERSIAN_GUIDES];
  const texts = [
    ...guides.map((name) => [name, withoutTags(guideMarkdown(`${name}.md`))] as const),
    ...operations.map((each) => [`operations/${each.operationId}`, operationMarkdown(each)] as const),
  ];
  for (const [name, text] of texts) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, `${name}.md`), text);
  }
  await writeFile(join(folder, 'llms.txt'), llmsText(description));
};
