import type { Page } from '#shared/pages.ts';
import { contents } from './contents.ts';
import { type ApiDocument, type Operation, operationsOf, withSchemas } from './document.ts';
import { guideLinks } from './guide.ts';
import { type Html, html } from './html.ts';
import { markdown, slug } from './markdown.ts';
import { methodBadge, operationSection } from './operation.ts';
import { page } from './page.ts';
import { KEY_VARIABLE, SAMPLE_BASE_URL } from './samples.ts';
import { operationEntries, textEntries } from './search.ts';
import { tryForm } from './try-form.ts';

/** Returns the chapters of the document's description: the text under each heading. The headers come after the first. */
const chaptersOf = ({ info, components }: ApiDocument) => {
  const chapters = info.description.split(/^## /m).map((chapter) => {
    const [title = '', ...lines] = chapter.split('\n');
    return { id: slug(title), title, text: lines.join('\n') };
  });
  const rows = Object.entries(components.headers).map(
    ([name, { description }]) => `| \`${name}\` | ${description} |`,
  );
  const text = ['| Header | Meaning |', '|---|---|', ...rows].join('\n');
  return chapters.slice(1).toSpliced(1, 0, { id: 'headers', title: 'Response headers', text });
};

/** Returns the tags of the document with their operations. */
const groupsOf = (document: ApiDocument) => {
  const byTag = Map.groupBy(operationsOf(document), ({ tags }) => tags[0]);
  return document.tags.map((tag) => ({ ...tag, operations: byTag.get(tag.name) ?? [] }));
};

type Groups = ReturnType<typeof groupsOf>;
type Chapters = ReturnType<typeof chaptersOf>;

const navigation = (groups: Groups, chapters: Chapters): Html => {
  const link = ({ id, method, summary }: Operation): Html =>
    html`<li><a href="#${id}">${summary} ${methodBadge(method)}</a></li>`;
  return contents([
    html`<ul><li><a href="#start">Start</a></li></ul>`,
    ...groups.map(({ name, operations }) => html`<h2>${name}</h2>\n<ul>${operations.map(link)}</ul>`),
    html`<h2>For all operations</h2>
<ul>${chapters.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}</ul>
<h2>Guides</h2>
<ul>${guideLinks('docs/')}</ul>`,
  ]);
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

/** Returns what the search finds on the reference page. */
export const referenceEntries = (openApiDocument: object) => {
  const document = withSchemas(openApiDocument);
  const chapters = chaptersOf(document).flatMap(({ id, title, text }) =>
    textEntries({ page: 'Reference', href: 'docs', text: `## ${title}\n${text}` }).filter(
      ({ href }) => href === `docs#${id}`,
    ),
  );
  return [...operationsOf(document).flatMap(operationEntries), ...chapters];
};

/** Builds the reference page. The list of operations and their whole description need no JavaScript. */
export const referencePage = (openApiDocument: object): Page => {
  const document = withSchemas(openApiDocument);
  const groups = groupsOf(document);
  const chapters = chaptersOf(document);
  // A newcomer needs nothing but a key to list users.
  const first = groups
    .flatMap(({ operations }) => operations)
    .find(
      ({ method, takesKey, parameters }) =>
        method === 'GET' && takesKey && parameters.every(({ required }) => !required),
    );
  return page({
    title: `${document.info.title} API`,
    root: '.',
    content: html`${navigation(groups, chapters)}
<main>
${start(document, first)}
${groups.map(
  ({ name, description, operations }) => html`<h2>${name}</h2><p>${description}</p>
${operations.map(operationSection)}`,
)}
<h2>For all operations</h2>
${chapters.map(
  ({ id, title, text }) =>
    html`<section class="chapter" id="${id}"><h3>${title}</h3>${markdown(text)}</section>`,
)}
</main>`,
  });
};
