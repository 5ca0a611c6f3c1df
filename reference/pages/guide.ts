import { posix } from 'node:path';
import { GUIDE_NAMES, type GuideName, type Page } from '#shared/docs-page/page-files.ts';
import { guideContents, type Language, languageOf, TITLES, WORDS } from './contents.ts';
import { type Html, html, raw } from './html.ts';
import { markdown } from './markdown.ts';
import { page } from './page.ts';
import { SAMPLE_BASE_URL } from './samples.ts';
import { textEntries } from './search.ts';

/** The address of the page of a key in the Markdown of a guide, right for a reader of the repository too. */
const KEY_PAGE = `${SAMPLE_BASE_URL}/docs/key`;

/** Returns the Markdown file of a guide, relative to the root of the repository. */
export const guideFile = (name: GuideName): string =>
  name === 'typescript-client' ? 'client/README.md' : `docs/${name}.md`;

/** Returns the path from a guide to the folder of the guides: `../` for `fa/quick-start`. */
const folderFrom = (name: GuideName): string => '../'.repeat(name.split('/').length - 1);

/** Returns the address of a link in a guide. What the deployment does not serve has none. */
const guideLink = (from: GuideName, href: string): string | undefined => {
  if (href === KEY_PAGE) return `${folderFrom(from)}key`;
  if (/^(?:https?:|#)/.test(href)) return href;
  const [path = '', fragment] = href.split('#');
  const file = posix.join(posix.dirname(guideFile(from)), path);
  const name = GUIDE_NAMES.find((guide) => guideFile(guide) === file);
  return name && `${folderFrom(from)}${name}${fragment === undefined ? '' : `#${fragment}`}`;
};

/** The headings of the guide, beside it on a wide screen. A guide with one heading needs no list. */
const onThisPage = (markup: string, language: Language): Html | false => {
  const headings = [...markup.matchAll(/<h([23]) id="([^"]*)"><a[^>]*>(.*)<\/a><\/h/g)];
  const title = WORDS.onThisPage[language];
  return (
    headings.length > 1 &&
    html`<nav class="headings" aria-label="${title}"><h2>${title}</h2>
<ul>${headings.map(([, depth, id, label = '']) => html`<li class="depth-${depth}"><a href="#${id}">${raw(label)}</a></li>`)}</ul>
</nav>`
  );
};

/** Links to the guides of the same language before and after this one, in reading order. */
const neighbors = (name: GuideName): Html | false => {
  const language = languageOf(name);
  const folder = folderFrom(name);
  const guides = GUIDE_NAMES.filter((other) => languageOf(other) === language);
  const index = guides.indexOf(name);
  const link = (rel: string, label: string, other: GuideName | undefined): Html | false =>
    other !== undefined &&
    html`<a rel="${rel}" href="${folder}${other}"><small>${label}</small> ${TITLES[other][language]}</a>`;
  return (
    guides.length > 1 &&
    html`<nav class="neighbors" aria-label="${WORDS.neighbors[language]}">
${link('prev', WORDS.previous[language], guides[index - 1])}
${link('next', WORDS.next[language], guides[index + 1])}
</nav>`
  );
};

/** Gives each row of a table that starts with a name, such as an error code, an id and a link to it. */
const withRowLinks = (markup: string): string => {
  const ids = new Set([...markup.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
  return markup.replace(/<tr>\s*<td><code>([\w-]+)<\/code><\/td>/g, (row, name: string) => {
    if (ids.has(name)) return row;
    ids.add(name);
    return `<tr id="${name}"><td><a class="self" href="#${name}"><code>${name}</code></a></td>`;
  });
};

/** Returns what the search finds in a guide. */
export const guideEntries = (name: GuideName, text: string) =>
  textEntries({ page: TITLES[name].en, href: `docs/${name}`, text });

/** Builds the page of a guide from its Markdown. */
export const guidePage = (name: GuideName, text: string): Page => {
  const language = languageOf(name);
  const folder = folderFrom(name);
  const { html: markup } = markdown(text, { language, addressOf: (href) => guideLink(name, href) });
  const article = raw(withRowLinks(markup));
  return page({
    title: `${TITLES[name].en} · Buyer Linking`,
    language,
    root: `${folder}..`,
    content: html`${guideContents({ folder, current: name, language })}
<main class="guide"><article>${article}${neighbors(name)}</article>${onThisPage(markup, language)}</main>`,
  });
};

/** Builds the page of a path under /docs that has no guide. `{up}` is the path from the requested address to /docs/. */
export const notFoundPage = (): Page =>
  page({
    title: 'Page not found · Buyer Linking',
    root: '{up}..',
    content: html`${guideContents({ folder: '{up}' })}
<main class="guide"><article><h1>Page not found</h1>
<p>There is no page at this address. Read the <a href="{up}quick-start">quick start</a>, or the
<a href="{up}../docs">reference</a> of all operations.</p></article></main>`,
  });
