import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { type Html, html } from './html.ts';

/** The folder of the drawn diagrams. `npm run docs:diagrams` draws them. */
export const DIAGRAMS = new URL('../../docs/diagrams/', import.meta.url);

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
