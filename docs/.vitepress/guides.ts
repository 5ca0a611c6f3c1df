import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';
import { spec } from './openapi.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FOLDER = 'docs/sellers';

/** The guides in reading order, under the title of their group. */
export const GUIDES = {
  'First steps': [
    'quick-start',
    'sign-in',
    'linking',
    'returning-buyer',
    'bring-your-customers',
    'test-identities',
  ],
  'Go on': ['keep-in-step', 'access-tokens', 'buyer-app', 'typescript-client', 'other-languages'],
  'Look up': [
    'errors',
    'limits',
    'your-key',
    'key',
    'versioning',
    'what-there-is-not',
    'glossary',
    'changelog',
  ],
};

export const PERSIAN_GUIDES = [
  'fa/quick-start',
  'fa/sign-in',
  'fa/linking',
  'fa/returning-buyer',
  'fa/errors',
  'fa/limits',
  'fa/your-key',
  'fa/test-identities',
];

/** The guides that are files of another place. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'client/README.md': 'typescript-client.md',
  'CHANGELOG.md': 'changelog.md',
};

const sourceOf = (page: string): string =>
  Object.keys(ELSEWHERE).find((file) => ELSEWHERE[file] === page) ?? `${FOLDER}/${page}`;

const read = (file: string): string => readFileSync(`${ROOT}${file}`, 'utf8');

/** Returns the entry of a guide in the sidebar: its title is the heading of its file, but for that of the client's package. */
export const entryOf = (name: string) => {
  const [, heading = name] = /^# (.+)$/m.exec(read(sourceOf(`${name}.md`))) ?? [];
  return { text: name === 'typescript-client' ? 'TypeScript client' : heading, link: `/${name}` };
};

/** A block of code, or a link. */
const CODE_OR_LINK = /^```[\s\S]*?^```$|\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)/gm;

/** Returns Markdown with links between pages of the site. A link to a file that is not published becomes its text. */
const withSiteLinks = (page: string, markdown: string): string =>
  markdown.replace(CODE_OR_LINK, (found, label?: string, path?: string, heading = '') => {
    if (label === undefined || path === undefined || /^\w+:/.test(path)) return found;
    const file = posix.join(posix.dirname(sourceOf(page)), path);
    const target = ELSEWHERE[file] ?? (file.startsWith(`${FOLDER}/`) && posix.relative(FOLDER, file));
    return target ? `[${label}](${posix.relative(posix.dirname(page), target)}${heading})` : label;
  });

/** A quotation in a guide is about the service on the reader's own machine. */
const OWN_MACHINE = /^>.*\n(?:>.*\n)*\n?/gm;

const INTERFACE = '<!-- interface -->';

/** Makes pages of the Markdown of the guides. It comes before the plugin that writes each page as Markdown too. */
export const sellerPages = (): Plugin => ({
  name: 'seller-pages',
  enforce: 'pre',
  transform(code, id) {
    const [, page] = /\/docs\/sellers\/((?:fa\/)?[\w-]+\.md)$/.exec(id) ?? [];
    if (page === undefined) return;
    const markdown = Object.values(ELSEWHERE).includes(page) ? read(sourceOf(page)) : code;
    return withSiteLinks(page, markdown.replace(OWN_MACHINE, '').replace(INTERFACE, spec.info.description));
  },
});
