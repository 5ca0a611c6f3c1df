import { GUIDE_NAMES, type GuideName, type Page } from '#shared/pages.ts';
import { contents } from './contents.ts';
import { type Html, html, raw } from './html.ts';
import { headingsOf, markdown } from './markdown.ts';
import { page } from './page.ts';

const TITLES: Readonly<Record<GuideName, string>> = {
  'quick-start': 'Quick start',
  linking: 'Linking buyers',
  'access-tokens': 'Access tokens',
  errors: 'Errors',
  limits: 'Limits',
  'test-identities': 'Test identities',
  versioning: 'Versions',
};

/** Links the guides to each other. What the deployment does not serve has no address here. */
const guideLink = (href: string): string | undefined => {
  if (/^(?:https?:|#)/.test(href)) return href;
  const [, name = '', fragment = ''] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
  return Object.hasOwn(TITLES, name) ? `${name}${fragment}` : undefined;
};

/** Returns links to the guides. `folder` is the path from the page to them. */
export const guideLinks = (folder: string, current?: GuideName): readonly Html[] =>
  GUIDE_NAMES.map((name) => {
    const mark = name === current && raw(' aria-current="page"');
    return html`<li><a href="${folder}${name}"${mark}>${TITLES[name]}</a></li>`;
  });

/** The headings of the guide, beside it on a wide screen. A guide with one heading needs no list. */
const onThisPage = (text: string): Html | false => {
  const headings = headingsOf(text);
  return (
    headings.length > 1 &&
    html`<nav class="headings" aria-label="On this page"><h2>On this page</h2>
<ul>${headings.map(({ id, title, depth }) => html`<li class="depth-${depth}"><a href="#${id}">${title}</a></li>`)}</ul>
</nav>`
  );
};

/** Links to the guides before and after this one, in reading order. */
const neighbors = (name: GuideName): Html => {
  const index = GUIDE_NAMES.indexOf(name);
  const link = (rel: string, label: string, other: GuideName | undefined): Html | false =>
    other !== undefined && html`<a rel="${rel}" href="${other}"><small>${label}</small> ${TITLES[other]}</a>`;
  return html`<nav class="neighbors" aria-label="Previous and next">
${link('prev', 'Previous', GUIDE_NAMES[index - 1])}
${link('next', 'Next', GUIDE_NAMES[index + 1])}
</nav>`;
};

/** Builds the page of a guide from its Markdown. */
export const guidePage = (name: GuideName, text: string): Page =>
  page(
    `${TITLES[name]} · Buyer Linking`,
    html`${contents([
      html`<ul><li><a href="../docs">Reference</a></li></ul>`,
      html`<h2>Guides</h2><ul>${guideLinks('', name)}</ul>`,
    ])}
<main class="guide"><article>${markdown(text, guideLink)}${neighbors(name)}</article>${onThisPage(text)}</main>`,
  );
