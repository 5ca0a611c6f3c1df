import { Marked, type Token, type Tokens } from 'marked';
import { headingIds } from './markdown.ts';
import { fieldsOf, type Operation } from './operations.ts';

/** A place that the search finds by its title, its page and its words. `href` is relative to the root of the service. */
interface Entry {
  readonly title: string;
  readonly page: string;
  readonly href: string;
  readonly words: string;
}

/** A text that the search finds: a guide, or a chapter of the reference page. */
export interface SearchableText {
  readonly page: string;
  readonly href: string;
  readonly text: string;
}

/** Returns the different words of a text, in lower case. */
const wordsOf = (text: string): string =>
  [...new Set(text.toLowerCase().match(/[\p{L}\p{N}_]{3,}/gu) ?? [])].join(' ');

/** Returns the name that a row of a table starts with: an error code, a limit, a claim. */
const nameOf = ([cell]: readonly Tokens.TableCell[]): string | undefined => {
  const [token, ...others] = cell?.tokens ?? [];
  return token?.type === 'codespan' && others.length === 0 ? token.text : undefined;
};

const rowEntries = ({ rows }: Tokens.Table, { page, href }: SearchableText): readonly Entry[] =>
  rows.flatMap((row) => {
    const title = nameOf(row);
    if (title === undefined || !/^[\w-]+$/.test(title)) return [];
    return [{ title, page, href: `${href}#${title}`, words: wordsOf(row.map(({ text }) => text).join(' ')) }];
  });

/** Returns an entry for each heading with the words below it, and for each row of a table that starts with a name. */
export const textEntries = (source: SearchableText): readonly Entry[] => {
  const { page, href, text } = source;
  const sections: { title: string; href: string; text: string }[] = [];
  const rows: Entry[] = [];
  const idOf = headingIds();
  for (const token of new Marked().lexer(text) as readonly Token[]) {
    if (token.type === 'heading') {
      const id = idOf(token.text);
      const address = token.depth === 1 ? href : `${href}#${id}`;
      sections.push({ title: token.text, href: address, text: '' });
    } else if (token.type === 'table') rows.push(...rowEntries(token as Tokens.Table, source));
    const section = sections.at(-1);
    if (section !== undefined && token.type !== 'code') section.text += `${token.raw} `;
  }
  return [
    ...sections.map(({ text: below, ...section }) => ({ ...section, page, words: wordsOf(below) })),
    ...rows,
  ];
};

/** Returns an entry for an operation, and one for each field of its request and its response. */
export const operationEntries = (operation: Operation): readonly Entry[] => {
  const { id, method, path, summary, description, errors } = operation;
  const codes = errors.map(({ code }) => code).join(' ');
  const words = `${method} ${path} ${wordsOf(`${description} ${codes}`)}`.toLowerCase();
  const fields = fieldsOf(operation).map(({ name, schema, id: field }) => ({
    title: name,
    page: summary,
    href: `docs#${field}`,
    words: wordsOf(schema.description ?? ''),
  }));
  return [{ title: summary, page: 'Reference', href: `docs#${id}`, words }, ...fields];
};
