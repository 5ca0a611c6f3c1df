import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import go from 'highlight.js/lib/languages/go';
import http from 'highlight.js/lib/languages/http';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import typescript from 'highlight.js/lib/languages/typescript';
import { type Language, WORDS } from './contents.ts';
import { type Html, html, raw } from './html.ts';

hljs.configure({ classPrefix: 'h-' });

const LANGUAGES = { sh: bash, bash, go, http, json, python, ts: typescript };

for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);

/** Tokens that have the color of the text. */
const PLAIN =
  /<span class="h-(?:punctuation|operator|title function_(?: invoke__)?|title class_)">([^<]*)<\/span>/g;

/** Makes a page a tenth smaller: quotes need no escape in text. */
const withoutNeedlessMarkup = (markup: string): string =>
  markup.replace(PLAIN, '$1').replaceAll('&#x27;', "'").replaceAll('&quot;', '"');

/** Returns code with its tokens in `<span class="h-…">`, which the style sheet colors. A language without a grammar stays plain. */
const highlight = (code: string, language: string): Html =>
  Object.hasOwn(LANGUAGES, language)
    ? raw(withoutNeedlessMarkup(hljs.highlight(code, { language }).value))
    : html`${code}`;

/** The captions of the blocks: what the reader sends or saves, and what the service returns or a program prints. */
const captionOf = (grammar: string, language: Language): string => {
  const { command, response, output } = WORDS;
  const captions: Readonly<Record<string, Readonly<Record<Language, string>> | undefined>> = {
    sh: command,
    bash: command,
    json: response,
    http: response,
    ts: { en: 'TypeScript', fa: 'TypeScript' },
    python: { en: 'Python', fa: 'Python' },
    go: { en: 'Go', fa: 'Go' },
  };
  return (captions[grammar] ?? output)[language];
};

/** Returns the button that copies the block around it. Without JavaScript it is hidden. */
export const copyButton = (language: Language): Html =>
  html`<button type="button" class="copy">${WORDS.copy[language]}</button>`;

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

/** Marks what the script of the page replaces by the values of the demo. */
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
