import { Marked, type Token } from 'marked';
import { codeBlock } from './block.ts';
import { diagram } from './diagram.ts';
import { type Html, html, raw } from './html.ts';
import type { Language } from './language.ts';

/** `Headers of a response` -> `headers-of-a-response`: the id of a heading, as GitHub makes it. */
export const slug = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s-]/gu, '')
    .trim()
    .replace(/\s/g, '-');

/** On a phone a wide table scrolls by itself, with the keyboard too. */
const SCROLLED = '<div class="scroll" role="region" aria-label="Table" tabindex="0"><table>';

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
  const renderer = new Marked({
    renderer: {
      heading({ tokens, depth, text: title }) {
        const label = this.parser.parseInline(tokens);
        const link = depth === 1 ? label : `<a class="self" href="#${slug(title)}">${label}</a>`;
        return `<h${depth} id="${slug(title)}">${link}</h${depth}>\n`;
      },
      code({ text: code, lang = '' }) {
        return lang === 'mermaid'
          ? diagram(code).html
          : codeBlock({ text: code, grammar: lang, language }).html;
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

/** A heading of a guide. */
export interface Heading {
  readonly id: string;
  readonly title: string;
  readonly depth: number;
}

/** Returns the headings of a Markdown text below its title. */
export const headingsOf = (text: string): readonly Heading[] =>
  new Marked().lexer(text).flatMap((token) => {
    if (token.type !== 'heading' || token.depth === 1) return [];
    return [{ id: slug(token.text), title: token.text, depth: token.depth }];
  });
