import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Page } from '#shared/docs-page/pages.ts';
import type { GuideName } from '#shared/docs-page/routes.ts';
import { type ApiDocument, type Operation, operationsOf } from './document.ts';
import { GUIDE_TITLES, guideContent, guideLinks } from './guide.ts';
import { type Html, html, raw } from './html.ts';
import { markdown, slug } from './markdown.ts';
import { methodBadge, operationSection } from './operation.ts';
import { KEY_VARIABLE, SAMPLE_BASE_URL } from './samples.ts';
import { tryForm } from './try-form.ts';

const readBrowserFile = (name: string): string =>
  readFileSync(new URL(`./browser/${name}`, import.meta.url), 'utf8');

const STYLE = ['base.css', 'operation.css', 'try.css', 'layout.css'].map(readBrowserFile).join('');
const SCRIPT = readBrowserFile('page.js');

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Allows the page's own style and script, by hash, and requests to its own origin. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `script-src ${hashOf(SCRIPT)}`,
  `style-src ${hashOf(STYLE)}`,
  'img-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = {
  'Cache-Control': 'public, max-age=300',
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

/** The whole page around its content. Every address is relative, so that it is right under a stage path (/dev/docs). */
const page = (title: string, content: Html): Page => ({
  headers: HEADERS,
  body: html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${raw(STYLE)}</style>
</head>
<body>
${content}
<script>${raw(SCRIPT)}</script>
</body>
</html>
`.html,
});

interface Chapter {
  readonly id: string;
  readonly title: string;
  readonly text: string;
}

/** The chapters of the document's description: the text under each heading. */
const chaptersOf = ({ info }: ApiDocument): readonly Chapter[] =>
  info.description
    .split(/^## /m)
    .slice(1)
    .map((chapter) => {
      const [title = '', ...lines] = chapter.split('\n');
      return { id: slug(title), title, text: lines.join('\n') };
    });

const headerChapter = ({ components }: ApiDocument): Chapter => ({
  id: 'headers',
  title: 'Response headers',
  text: [
    '| Header | Meaning |',
    '|---|---|',
    ...Object.entries(components.headers).map(
      ([name, { description }]) => `| \`${name}\` | ${description} |`,
    ),
  ].join('\n'),
});

const navigation = (
  operations: readonly Operation[],
  chapters: readonly Chapter[],
  tags: readonly string[],
) => {
  const operationLinks = (tag: string): Html => html`<h2>${tag}</h2>
<ul>${operations
    .filter((operation) => operation.tag === tag)
    .map(
      ({ id, method, summary }) => html`<li><a href="#${id}">${summary} ${methodBadge(method)}</a></li>`,
    )}</ul>`;
  return html`<details class="contents" open><summary>Contents</summary>
<nav aria-label="Contents">
<label class="search"><span>Search</span><input type="search" id="search" autocomplete="off"></label>
<p id="found" role="status"></p>
<ul><li><a href="#start">Start</a></li></ul>
${tags.map(operationLinks)}
<h2>For all operations</h2>
<ul>${chapters.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}</ul>
<h2>Guides</h2>
<ul>${guideLinks('docs/')}</ul>
</nav>
</details>`;
};

const start = ({ info }: ApiDocument, first: Operation | undefined): Html => html`
<section class="operation" id="start">
<div class="text">
<h1>${info.title} API <small>${info.version}</small></h1>
${markdown(info.description.split(/^## /m)[0] ?? '')}
<p>Base URL: <code>${SAMPLE_BASE_URL}</code>. Send your key in the header <code>X-Api-Key</code>; keep it on your servers.
The samples read it from the environment variable <code>${KEY_VARIABLE}</code>.</p>
<p>New here? Read the <a href="docs/quick-start">quick start</a>. Programs read the
<a href="v1/openapi.json">OpenAPI document</a>.</p>
</div>
<div class="aside">${first && tryForm(first, 'first')}</div>
</section>`;

/** Builds the reference page. The list of operations and their whole description need no JavaScript. */
export const referencePage = (document: ApiDocument): Page => {
  const operations = operationsOf(document);
  const [requests, ...others] = chaptersOf(document);
  const chapters = [...(requests ? [requests] : []), headerChapter(document), ...others];
  // A newcomer needs nothing but a key to list users.
  const first = operations.find(
    ({ method, takesKey, parameters }) =>
      method === 'GET' && takesKey && parameters.every(({ required }) => !required),
  );
  return page(
    `${document.info.title} API`,
    html`${navigation(
      operations,
      chapters,
      document.tags.map(({ name }) => name),
    )}
<main>
${start(document, first)}
${document.tags.map(
  ({ name, description }) => html`<h2>${name}</h2><p>${description}</p>
${operations.filter(({ tag }) => tag === name).map((operation) => operationSection(document, operation))}`,
)}
<h2>For all operations</h2>
${chapters.map(
  ({ id, title, text }) =>
    html`<section class="chapter" id="${id}"><h3>${title}</h3>${markdown(text)}</section>`,
)}
</main>`,
  );
};

/** Builds the page of a guide from its Markdown. */
export const guidePage = (name: GuideName, text: string): Page =>
  page(`${GUIDE_TITLES[name]} · Buyer Linking`, guideContent(name, text));
