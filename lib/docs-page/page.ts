import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import type { Page } from '#shared/pages.ts';
import { contentSecurityPolicy } from './content-security-policy.ts';
import { type Html, html, raw } from './html.ts';
import type { Language } from './language.ts';

/** Returns a file of browser/ and what it imports as one minified text. */
const bundle = (name: string): string => {
  const entry = fileURLToPath(new URL(`./browser/${name}`, import.meta.url));
  const { outputFiles } = buildSync({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    charset: 'utf8',
  });
  return outputFiles.map(({ text }) => text).join('');
};

const STYLE = bundle('page.css');
const SCRIPT = bundle('page.js');

const HEADERS = {
  'Cache-Control': 'public, max-age=300',
  'Content-Security-Policy': contentSecurityPolicy(STYLE, SCRIPT),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

interface PageContent {
  readonly title: string;
  readonly content: Html;
  /** The path from the page to the root of the service. */
  readonly root: string;
  readonly language?: Language;
}

/** Returns the page around its content. Every address is relative, so that it is right under a stage path (/dev/docs). */
export const page = ({ title, content, root, language = 'en' }: PageContent): Page => ({
  headers: HEADERS,
  body: html`<!doctype html>
<html lang="${language}" dir="${language === 'fa' ? 'rtl' : 'ltr'}" data-root="${root}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${raw(STYLE)}</style>
</head>
<body>
${content}
<script>${raw(SCRIPT)}</script>
</body>
</html>
`.html,
});
