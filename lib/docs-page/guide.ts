import { GUIDE_NAMES, type GuideName, type Page } from '#shared/pages.ts';
import { type Html, html, raw } from './html.ts';
import { markdown } from './markdown.ts';
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

/** Builds the page of a guide from its Markdown. */
export const guidePage = (name: GuideName, text: string): Page =>
  page(
    `${TITLES[name]} · Buyer Linking`,
    html`<nav class="contents" aria-label="Guides">
<p><a href="../docs">Reference</a></p>
<h2>Guides</h2>
<ul>${guideLinks('', name)}</ul>
</nav>
<main class="guide">${markdown(text, guideLink)}</main>`,
  );
