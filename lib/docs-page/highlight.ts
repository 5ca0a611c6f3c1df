import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import http from 'highlight.js/lib/languages/http';
import json from 'highlight.js/lib/languages/json';
import php from 'highlight.js/lib/languages/php';
import python from 'highlight.js/lib/languages/python';
import typescript from 'highlight.js/lib/languages/typescript';
import { type Html, html, raw } from './html.ts';

hljs.configure({ classPrefix: 'h-' });

const LANGUAGES = {
  sh: bash,
  http,
  json,
  php,
  python,
  ts: typescript,
};

for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);

/** Tokens that have the color of the text. Without them the pages are a tenth smaller. */
const PLAIN =
  /<span class="h-(?:punctuation|operator|title function_(?: invoke__)?|title class_)">([^<]*)<\/span>/g;

/** Returns code with its tokens in `<span class="h-…">`, which the style sheet colors. A language without a grammar stays plain. */
export const highlight = (code: string, language: string): Html =>
  Object.hasOwn(LANGUAGES, language)
    ? raw(hljs.highlight(code, { language }).value.replace(PLAIN, '$1'))
    : html`${code}`;
