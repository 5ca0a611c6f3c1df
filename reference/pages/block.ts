import { highlight } from './highlight.ts';
import { type Html, html, raw } from './html.ts';
import { type Language, WORDS } from './language.ts';

/** The captions of the blocks: what the reader sends or saves, and what the service returns or a program prints. */
const captionOf = (grammar: string, language: Language): string => {
  const { command, response, output } = WORDS[language];
  const captions = {
    sh: command,
    json: response,
    http: response,
    ts: 'TypeScript',
    python: 'Python',
    php: 'PHP',
  };
  return (captions as Readonly<Record<string, string>>)[grammar] ?? output;
};

/** Returns the button that copies the block around it. Without JavaScript it is hidden. */
export const copyButton = (language: Language): Html =>
  html`<button type="button" class="copy" hidden>${WORDS[language].copy}</button>`;

const TOKENS = /"(?:[^"\\]|\\.)*"|\[\]|\{\}|[{}[\],:…]/g;

/** Returns a line of JSON with indentation, also if `…` stands for a part of it. */
const indented = (line: string): string => {
  let indent = '\n';
  return line.replace(TOKENS, (token, offset: number) => {
    if (token === '{' || token === '[') {
      indent += '  ';
      return token + indent;
    }
    if (token === '}' || token === ']') {
      indent = indent.slice(0, -2);
      return indent + token;
    }
    if (token === ',') return token + indent;
    if (token === ':') return ': ';
    if (token !== '…') return token;
    return `${line[offset - 1] === '}' ? indent : ''}…${line[offset + 1] === '{' ? indent : ''}`;
  });
};

/** A command that reads a value of the demo from the clone. */
const DEMO_VALUE =
  /\$\(node -p (?:<span[^>]*>)?"require\('\.\/\.local\/demo\.json'\)\.([\w.]+)"(?:<\/span>)?\)/g;

/** Marks what the page's script replaces: by the demo's values on the local service, by the reader's own on a deployment. */
const withDemoValues = ({ html: markup }: Html): Html =>
  raw(markup.replace(DEMO_VALUE, '<span data-demo="$1">$&</span>'));

/** A block of code: its text, the name of its grammar, the language of the page around it and, if it is not the usual one, its caption. */
interface Block {
  readonly text: string;
  readonly grammar: string;
  readonly language: Language;
  readonly caption?: string;
}

/** Returns a block of code with its caption, its colors and a button to copy it. A long line scrolls, so that no word is broken. */
export const codeBlock = ({
  text,
  grammar,
  language,
  caption = captionOf(grammar, language),
}: Block): Html => {
  const code = grammar === 'json' ? text.split('\n').map(indented).join('\n') : text;
  return html`<figure class="block ${grammar}"><figcaption><span>${caption}</span>${copyButton(language)}</figcaption>
<pre tabindex="0" dir="ltr"><code>${withDemoValues(highlight(code, grammar))}</code></pre></figure>`;
};
