import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { Marked, type Token } from 'marked';
import { codeBlock } from './block.ts';
import type { Language } from './contents.ts';
import { type Html, html, raw } from './html.ts';

/** `Headers of a response` -> `headers-of-a-response`. */
export const slug = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s-]/gu, '')
    .trim()
    .replace(/\s/g, '-');

/** Returns a function that gives each heading of a text its id, as GitHub does: the second "Added" is `added-1`. */
export const headingIds = (): ((title: string) => string) => {
  const counts = new Map<string, number>();
  return (title) => {
    const plain = slug(title);
    const count = counts.get(plain) ?? 0;
    counts.set(plain, count + 1);
    return count === 0 ? plain : `${plain}-${count}`;
  };
};

/** The folder of the drawn diagrams. `npm run docs:diagrams` draws them. */
export const DIAGRAMS = new URL('../../docs/sellers/diagrams/', import.meta.url);

/** Returns the file of a diagram. Its name is the hash of the Mermaid source, so a changed source has no drawing until it is drawn again. */
export const diagramFile = (source: string): URL =>
  new URL(`${createHash('sha256').update(source.trim()).digest('hex').slice(0, 12)}.svg`, DIAGRAMS);

/** Returns the Mermaid sources in a Markdown text. */
export const diagramSources = (markdown: string): readonly string[] =>
  [...markdown.matchAll(/^```mermaid\n([\s\S]*?)^```$/gm)].map(([, source]) => String(source));

/** Returns the drawing of a Mermaid source, with its `accTitle` as the text alternative. Throws if it was not drawn. */
export const diagram = (source: string): Html => {
  const file = diagramFile(source);
  const [, title] = /^\s*accTitle: (.+)$/m.exec(source) ?? [];
  if (title === undefined) throw new Error(`The diagram has no accTitle:\n${source}`);
  if (!existsSync(file)) throw new Error(`"${title}" is not drawn. Run: npm run docs:diagrams`);
  const svg = readFileSync(file, 'utf8')
    .replaceAll('"', "'")
    .replace(/[%#<>]/g, encodeURIComponent);
  const address = `data:image/svg+xml,${svg}`;
  return html`<div class="diagram" role="region" aria-label="${title}" tabindex="0"><img alt="${title}" src="${address}"></div>`;
};

/** On a phone a wide table scrolls by itself, with the keyboard too. */
const SCROLLED = '<div class="scroll" role="region" aria-label="Table" tabindex="0"><table>';

/** The characters that a column of a table has room for. */
const MAX_UNBROKEN = 40;

const PERSIAN = /\p{Script=Arabic}/u;

interface MarkdownOptions {
  /** Returns the address of a link; undefined: the link becomes its text. */
  readonly addressOf?: (href: string) => string | undefined;
  /** The language of the page. */
  readonly language?: Language;
}

/** Renders Markdown of ours. Headings are links to themselves. */
export const markdown = (
  text: string,
  { addressOf = (href) => href, language = 'en' }: MarkdownOptions = {},
): Html => {
  const idOf = headingIds();
  const renderer = new Marked({
    renderer: {
      heading({ tokens, depth, text: title }) {
        const label = this.parser.parseInline(tokens);
        const id = idOf(title);
        const link = depth === 1 ? label : `<a class="self" href="#${id}">${label}</a>`;
        return `<h${depth} id="${id}">${link}</h${depth}>\n`;
      },
      code({ text: code, lang = '' }) {
        return lang === 'mermaid'
          ? diagram(code).html
          : codeBlock({ text: code, grammar: lang, language }).html;
      },
      codespan({ text: code }) {
        // A short one is not broken in a table, a long one may be.
        const isLong = code.length > MAX_UNBROKEN && raw(' class="long"');
        return html`<code${isLong}>${code}</code>`.html;
      },
      link({ href, tokens }) {
        const address = addressOf(href);
        const label = this.parser.parseInline(tokens as Token[]);
        const other = language === 'en' && PERSIAN.test(label) && raw(' lang="fa" dir="rtl"');
        return address === undefined ? label : html`<a href="${address}"${other}>${raw(label)}</a>`.html;
      },
    },
  });
  const markup = renderer.parse(text, { async: false });
  return raw(markup.replaceAll('<table>', SCROLLED).replaceAll('</table>', '</table></div>'));
};
