import type { DocsFile } from '#shared/docs/files.ts';
import { table } from '../openapi/limit-tables.ts';
import { contents, firstLinks, guideLinks } from './contents.ts';
import { type Html, html, raw } from './html.ts';
import { markdown, slug } from './markdown.ts';
import { methodBadge, operationSection } from './operation-section.ts';
import { type ApiDocument, fieldsOf, type Operation, operationsOf, withSchemas } from './operations.ts';
import { page } from './page.ts';
import { KEY_VARIABLE } from './sample-programs.ts';
import { SAMPLE_BASE_URL, tryForm } from './samples.ts';
import { operationEntries, textEntries } from './search.ts';
import type { Site } from './site.ts';

/** Returns the chapters of the document's description: the text under each heading. The headers come after the first. */
const chaptersOf = ({ info, components }: ApiDocument) => {
  const chapters = info.description.split(/^## /m).map((chapter) => {
    const [title = '', ...lines] = chapter.split('\n');
    return { id: slug(title), title, text: lines.join('\n') };
  });
  const rows = Object.entries(components.headers).map(([name, { description }]) => [
    `\`${name}\``,
    description,
  ]);
  const text = table(['Header', 'Meaning'], rows);
  return chapters.slice(1).toSpliced(1, 0, { id: 'headers', title: 'Response headers', text });
};

/** Returns the tags of the document with their operations. The last one has those that return this documentation. */
const groupsOf = (document: ApiDocument) => {
  const byTag = Map.groupBy(operationsOf(document), ({ tags }) => tags[0]);
  return document.tags.map((tag) => ({ ...tag, operations: byTag.get(tag.name) ?? [] }));
};

type Group = ReturnType<typeof groupsOf>[number];

/** Returns the addresses of the error codes, and of the fields where the page first describes them. */
const addressesOf = (document: ApiDocument): ReadonlyMap<string, string> => {
  const operations = operationsOf(document);
  const fields = operations.flatMap(fieldsOf).map(({ name, id }) => [name, `#${id}`] as const);
  const codes = operations.flatMap(({ errors }) =>
    errors.map(({ code }) => [code, `{root}/docs/errors#${code}`] as const),
  );
  // The first address of a name is the last one set.
  return new Map([...fields.reverse(), ...codes]);
};

/** Elements whose text stays as it is: it is a link already, or it is sent or copied. */
const SKIPPED = /^<(\/?)(?:a|pre|form|nav|legend|figcaption|h[1-6])[\s>]/;

/** An error code or a field in prose. A name without an underscore may be a word of the sentence. */
const NAME = /\b[a-z]+(?:_[a-z]+)+\b/g;

/** Sets the names in the prose of a page as code, and links them. `addresses`: name -> address. */
const linkNames = ({ html: markup }: Html, addresses: ReadonlyMap<string, string>): Html => {
  let skipped = 0;
  let code: string | undefined;
  const link = (name: string): string => {
    const address = addresses.get(name);
    if (address === undefined) return name;
    const anchor = `<a href="${address}">${name}</a>`;
    return code === undefined ? `<code>${anchor}</code>` : anchor;
  };
  const parts = markup.split(/(<[^>]*>)/).map((part) => {
    const [isTag, slash] = SKIPPED.exec(part) ?? [];
    if (isTag !== undefined) skipped += slash === '' ? 1 : -1;
    if (/^<code[\s>]/.test(part)) code = part;
    else if (part === '</code>') code = undefined;
    // The name of a field in its own row is what others link to.
    if (part.startsWith('<') || skipped > 0 || code === '<code class="name">') return part;
    return part.replace(NAME, link);
  });
  return raw(parts.join(''));
};

const operationLinks = ({ name, operations }: Group): Html => {
  const link = ({ id, method, summary }: Operation): Html =>
    html`<li><a href="#${id}">${summary} ${methodBadge(method)}</a></li>`;
  return html`<h2>${name}</h2>\n<ul>${operations.map(link)}</ul>`;
};

const navigation = (groups: readonly Group[], chapters: ReturnType<typeof chaptersOf>): Html =>
  contents([
    firstLinks('#start', 'Start', {}),
    ...groups.slice(0, -1).map(operationLinks),
    html`<h2>For all operations</h2>
<ul>${chapters.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}</ul>
${guideLinks({})}`,
    ...groups.slice(-1).map(operationLinks),
  ]);

const start = ({ info }: ApiDocument, first: Operation | undefined): Html => html`
<section class="operation" id="start">
<div class="text">
<h1>${info.title} API <small>${info.version}</small></h1>
${markdown(info.description.split(/^## /m)[0] ?? '')}
<ol class="steps">
<li><a href="{root}/docs/quick-start#1-sign-a-buyer-in">Register</a>: the buyer signs in to the buyer app once.</li>
<li><a href="#create-user">Link</a>: send the buyer’s national id, birth date, phone and name.</li>
<li><a href="#list-users">List</a>: read your linked users, or find one by phone.</li>
</ol>
<p>The <a href="{root}/docs/quick-start">quick start</a> takes these steps one by one. Programs read the
<a href="{root}/v1/openapi.json">OpenAPI document</a>.</p>
<p>Base URL: <code>${SAMPLE_BASE_URL}</code>. Send your key in the header <code>X-Api-Key</code>; keep it on your servers.
The samples read it from the environment variable <code>${KEY_VARIABLE}</code>.</p>
<noscript><p>Without JavaScript, the samples are for curl and have the address of a local service: replace it by the address of this page.</p></noscript>
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

const groupSection = ({ name, description, operations }: Group): Html =>
  html`<h2>${name}</h2><p>${description}</p>
${operations.map(operationSection)}`;

/** Builds the reference page. The list of operations and their whole description need no JavaScript. */
export const referencePage = (openApiDocument: object, site: Site): DocsFile => {
  const document = withSchemas(openApiDocument);
  const groups = groupsOf(document);
  const chapters = chaptersOf(document);
  // A newcomer needs nothing but a key to list users.
  const first = operationsOf(document).find(
    ({ method, takesKey, parameters }) =>
      method === 'GET' && takesKey && parameters.every(({ required }) => !required),
  );
  const main = html`${start(document, first)}
${groups.slice(0, -1).map(groupSection)}
<h2>For all operations</h2>
${chapters.map(
  ({ id, title, text }) =>
    html`<section class="chapter" id="${id}"><h3>${title}</h3>${markdown(text)}</section>`,
)}
${groups.slice(-1).map(groupSection)}`;
  return page({
    site,
    title: `${document.info.title} API`,
    content: html`${navigation(groups, chapters)}
<main>
${linkNames(main, addressesOf(document))}
</main>`,
  });
};
