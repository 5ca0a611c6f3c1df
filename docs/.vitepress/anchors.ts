import type { MarkdownRenderer } from 'vitepress';

/** Gives a row of a table whose first cell is a name, such as an error code, that name as its id: `/docs/errors#user_conflict`. */
export const codeAnchors = (md: MarkdownRenderer): void => {
  md.core.ruler.push('code-anchors', ({ tokens }) => {
    // An id that is a heading's too, such as `errors`, leads to the heading.
    const ids = new Set<string | null>(tokens.map((token) => token.attrGet('id')));
    for (const [index, row] of tokens.entries()) {
      const cell = row.type === 'tr_open' ? tokens[index + 2] : undefined;
      const [, name] = /^(?:`|<code>)([\w-]+)(?:`|<\/code>)$/.exec(cell?.content ?? '') ?? [];
      if (name === undefined || ids.has(name)) continue;
      ids.add(name);
      row.attrSet('id', name);
    }
  });
};

/** `2. Link` -> `2-link`, as GitHub does. */
export const slugify = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');
