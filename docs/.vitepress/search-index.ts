import type { MarkdownEnv } from 'vitepress';
import { guideMarkdown } from './guides.ts';
import { operations } from './openapi.ts';
import { operationMarkdown } from './operation-markdown.ts';

/** `operations/[operationId].md` is one file of many pages, which the search does not read. */
export const sectionsOfOperation = (file: string) => {
  const operation = operations.find(({ operationId }) => file.endsWith(`/operations/${operationId}.md`));
  // Undefined is the default of VitePress, which its type does not say.
  return (operation && [{ titles: [operation.summary], text: operationMarkdown(operation) }]) as {
    titles: string[];
    text: string;
  }[];
};

interface Renderer {
  render(markdown: string, env: MarkdownEnv): string;
}

/** Gives the search each guide as it is shown, and each row of Errors as a section of its own. */
export const searchedHtml = (_file: string, env: MarkdownEnv, md: Renderer): string => {
  const html = md.render(guideMarkdown(env.relativePath), env);
  if (!env.relativePath.endsWith('errors.md')) return html;
  return html.replace(
    /<tr id="([\w-]+)">/g,
    (row, code: string) => `<h3>${code} <a href="#${code}">#</a></h3>${row}`,
  );
};
