import { GUIDE_NAMES, type GuideName } from '#shared/docs-page/routes.ts';
import { type Html, html } from './html.ts';
import { type LinkTarget, markdown } from './markdown.ts';

/** The titles of the guides. */
export const GUIDE_TITLES: Readonly<Record<GuideName, string>> = {
  'quick-start': 'Quick start',
  linking: 'Linking buyers',
  'access-tokens': 'Access tokens',
  errors: 'Errors',
  limits: 'Limits',
  'test-identities': 'Test identities',
  versioning: 'Versions',
};

/** Links the guides to each other; what the deployment does not serve has no address here. */
const guideLink: LinkTarget = (href) => {
  if (/^(?:https?:|#)/.test(href)) return href;
  const [, name = '', fragment = ''] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
  return Object.hasOwn(GUIDE_TITLES, name) ? `${name}${fragment}` : undefined;
};

/** Returns links to the guides. `folder` is the path from the page to them. */
export const guideLinks = (folder: string, current?: GuideName): readonly Html[] =>
  GUIDE_NAMES.map((name) =>
    name === current
      ? html`<li><a href="${folder}${name}" aria-current="page">${GUIDE_TITLES[name]}</a></li>`
      : html`<li><a href="${folder}${name}">${GUIDE_TITLES[name]}</a></li>`,
  );

/** Returns the content of a guide's page. */
export const guideContent = (name: GuideName, text: string): Html =>
  html`<nav class="contents" aria-label="Guides">
<p><a href="../docs">Reference</a></p>
<h2>Guides</h2>
<ul>${guideLinks('', name)}</ul>
</nav>
<main class="guide">${markdown(text, guideLink)}</main>`;
