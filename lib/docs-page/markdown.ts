import { Marked, type Token } from 'marked';
import { type Html, raw } from './html.ts';

/** `Headers of a response` -> `headers-of-a-response`: the id of a heading, as GitHub makes it. */
export const slug = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s-]/gu, '')
    .trim()
    .replace(/\s/g, '-');

/** On a phone a wide table scrolls by itself, with the keyboard too. */
const SCROLLED = '<div class="scroll" role="region" aria-label="Table" tabindex="0"><table>';

/** Renders Markdown of ours. Headings get ids. `addressOf` returns the address of a link; undefined: it becomes its text. */
export const markdown = (
  text: string,
  addressOf: (href: string) => string | undefined = (href) => href,
): Html => {
  const renderer = new Marked({
    renderer: {
      heading({ tokens, depth, text: title }) {
        return `<h${depth} id="${slug(title)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const address = addressOf(href);
        const label = this.parser.parseInline(tokens as Token[]);
        return address === undefined ? label : `<a href="${address}">${label}</a>`;
      },
    },
  });
  const markup = renderer.parse(text, { async: false });
  return raw(markup.replaceAll('<table>', SCROLLED).replaceAll('</table>', '</table></div>'));
};
