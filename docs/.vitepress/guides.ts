import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';
import { info } from './openapi.ts';

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
  'fa/what-there-is-not',
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

/** An entry of the changelog that sellers do not notice. */
const OF_OPERATORS = /^- Operators: .*\n/gm;

const JSON_TOKEN = /"(?:[^"\\]|\\.)*"|\[\]|\{\}|[[{}\],:]/g;

/** Returns JSON of one line as several, also if it leaves something out: `[…{"id":"usr_…"}]`. */
const indented = (line: string): string => {
  let depth = 0;
  const broken = () => `\n${'  '.repeat(depth)}`;
  return line.replace(JSON_TOKEN, (token) => {
    if (token === '{' || token === '[') {
      depth += 1;
      return token + broken();
    }
    if (token === '}' || token === ']') {
      depth -= 1;
      return broken() + token;
    }
    if (token === ',') return token + broken();
    return token === ':' ? ': ' : token;
  });
};

/** Shows JSON of one line over several. What the tests run and compare is the file as it is. */
const withLongJson = (markdown: string): string =>
  markdown.replace(/(?<=^```json\n)[\s\S]*?(?=^```$)/gm, (block) =>
    block.replace(/^[{[].{40,}$/gm, indented),
  );

/** Returns the Markdown of a guide as the site shows it. */
export const guideMarkdown = (page: string): string =>
  withSiteLinks(
    page,
    withLongJson(
      read(sourceOf(page))
        .replace(OWN_MACHINE, '')
        .replace(OF_OPERATORS, '')
        .replace(/^- Sellers: (.)/gm, (_, first: string) => `- ${first.toUpperCase()}`)
        .replace(INTERFACE, info.description),
    ),
  );

/** Returns the first long paragraph of a guide up to the end of a sentence, for search engines and previews of links. */
export const descriptionOf = (page: string): string => {
  const paragraphs = guideMarkdown(page)
    .replace(/^```[\s\S]*?^```$/gm, '')
    .replace(/<[^>]*>|`/g, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .split(/\n{2,}/)
    .map((text) => text.replace(/\s+/g, ' ').trim());
  const first = paragraphs.find((text) => /^[\p{L}][^|]{60,}[.:]$/u.test(text)) ?? '';
  return first.replace(/^(.{60,}?[.؛]) .*$/, '$1');
};

/** Makes pages of the Markdown of the guides. */
export const sellerPages = (): Plugin => ({
  name: 'seller-pages',
  enforce: 'pre',
  transform(_code, id) {
    const [, page] = /\/docs\/sellers\/((?:fa\/)?[\w-]+\.md)$/.exec(id) ?? [];
    return page === undefined ? undefined : guideMarkdown(page);
  },
});
