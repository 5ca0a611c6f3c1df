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

/** Returns code with its tokens in `<span class="h-…">`, which the style sheet colors. A language without a grammar stays plain. */
export const highlight = (code: string, language: string): Html =>
  Object.hasOwn(LANGUAGES, language) ? raw(hljs.highlight(code, { language }).value) : html`${code}`;
