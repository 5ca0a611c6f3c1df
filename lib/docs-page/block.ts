import { highlight } from './highlight.ts';
import { type Html, html } from './html.ts';

/** The captions of the blocks, by language: what the reader sends or saves, and what the service returns or a program prints. */
const CAPTIONS: Readonly<Record<string, string>> = {
  sh: 'Command',
  json: 'Response',
  http: 'Response',
  text: 'Output',
  ts: 'TypeScript',
  python: 'Python',
  php: 'PHP',
};

/** The button that copies the block around it. Without JavaScript it is hidden. */
export const COPY_BUTTON = html`<button type="button" class="copy" hidden>Copy</button>`;

/** Returns a line of JSON with indentation; any other text as it is, such as JSON with an ellipsis. */
const indented = (line: string): string => {
  try {
    return JSON.stringify(JSON.parse(line), null, 2);
  } catch {
    return line;
  }
};

/** Returns a block of code with its caption, its colors and a button to copy it. A long line scrolls, so that no word is broken. */
export const codeBlock = (code: string, language: string, caption = CAPTIONS[language] ?? 'Text'): Html => {
  const text = language === 'json' ? code.split('\n').map(indented).join('\n') : code;
  return html`<figure class="block ${language}"><figcaption><span>${caption}</span>${COPY_BUTTON}</figcaption>
<pre tabindex="0" dir="ltr"><code>${highlight(text, language)}</code></pre></figure>`;
};
