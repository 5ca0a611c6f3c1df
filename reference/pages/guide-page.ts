import { posix } from 'node:path';
import { type DocsFile, GUIDE_NAMES, type GuideName } from '#shared/docs/files.ts';
import { guideContents, type Language, languageOf, TITLES, WORDS } from './contents.ts';
import { type Html, html, raw } from './html.ts';
import { markdown } from './markdown.ts';
import { page } from './page.ts';
import { SAMPLE_BASE_URL } from './samples.ts';
import { textEntries } from './search.ts';
import type { Site } from './site.ts';

/** The address of the page of a key in the Markdown of a guide, right for a reader of the repository too. */
const KEY_PAGE = `${SAMPLE_BASE_URL}/docs/key`;

/** Returns the Markdown file of a guide, relative to the root of the repository. */
export const guideFile = (name: GuideName): string => FILES[name] ?? `docs/sellers/${name}.md`;

const FILES: { readonly [Name in GuideName]?: string } = {
  'typescript-client': 'client/README.md',
  changelog: 'CHANGELOG.md',
};

interface GuideLinks {
  /** What precedes the name of a page: `{root}/docs/`. */
  readonly folder: string;
  /** What follows the name of a guide. */
  readonly end: '' | '.md';
}

/** Returns the address of a link in a guide. What the deployment does not serve has none. */
const guideLink = (from: GuideName, href: string, { folder, end }: GuideLinks): string | undefined => {
  if (href === KEY_PAGE) return `${folder}key`;
  if (/^(?:https?:|#)/.test(href)) return href;
  const [path = '', fragment] = href.split('#');
  const file = posix.join(posix.dirname(guideFile(from)), path);
  const name = GUIDE_NAMES.find((guide) => guideFile(guide) === file);
  return name && `${folder}${name}${end}${fragment === undefined ? '' : `#${fragment}`}`;
};

const PAGE_LINKS: GuideLinks = { folder: '{root}/docs/', end: '' };

/** A block of code, or a link. */
const CODE_OR_LINK = /^```[\s\S]*?^```$|\[([^\]]*)\]\(([^)\s]+)\)/gm;

/** Returns the Markdown of a guide as it is served: each link leads to the Markdown of the other guide. */
export const guideMarkdown = (name: GuideName, text: string): string => {
  const folder = '../'.repeat(name.split('/').length - 1);
  return text.replace(CODE_OR_LINK, (found, label?: string, href?: string) => {
    if (label === undefined || href === undefined) return found;
    const address = guideLink(name, href, { folder, end: '.md' });
    return address === undefined ? label : `[${label}](${address})`;
  });
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
  const guides = GUIDE_NAMES.filter((other) => languageOf(other) === language);
  const index = guides.indexOf(name);
  const link = (rel: string, label: string, other: GuideName | undefined): Html | false =>
    other !== undefined &&
    html`<a rel="${rel}" href="{root}/docs/${other}"><small>${label}</small> ${TITLES[other][language]}</a>`;
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
export const guidePage = (name: GuideName, text: string, site: Site): DocsFile => {
  const language = languageOf(name);
  const { html: markup } = markdown(text, {
    language,
    addressOf: (href) => guideLink(name, href, PAGE_LINKS),
  });
  const article = raw(withRowLinks(markup));
  return page({
    site,
    title: `${TITLES[name].en} · Buyer Linking`,
    language,
    content: html`${guideContents({ current: name, language })}
<main class="guide"><article>${article}${neighbors(name)}</article>${onThisPage(markup, language)}</main>`,
  });
};

/** Builds the page of a path under /docs that has no guide. */
export const notFoundPage = (site: Site): DocsFile =>
  page({
    site,
    title: 'Page not found · Buyer Linking',
    content: html`${guideContents()}
<main class="guide"><article><h1>Page not found</h1>
<p>There is no page at this address. Read the <a href="{root}/docs/quick-start">quick start</a>, or the
<a href="{root}/docs">reference</a> of all operations.</p></article></main>`,
  });
