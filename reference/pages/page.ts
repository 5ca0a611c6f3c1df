import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import type { DocsFile } from '#shared/docs/files.ts';
import { type Language, WORDS } from './contents.ts';
import { type Html, html, raw } from './html.ts';
import type { Site, Support } from './site.ts';

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

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Allows the one style and the one script of a page, by hash, and requests to its own origin. */
const contentSecurityPolicy = (style: string, script: string): string =>
  [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    'img-src data:',
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/** Returns the style and the script of these names in browser/, and the headers that allow both. */
export const assetsOf = (...names: readonly string[]) => {
  const style = names.map((name) => bundle(`${name}.css`)).join('');
  const script = names.map((name) => bundle(`${name}.js`)).join('');
  const headers = {
    'Cache-Control': 'public, max-age=300',
    'Content-Security-Policy': contentSecurityPolicy(style, script),
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
  };
  return { style, script, headers };
};

const ASSETS = assetsOf('page');

interface PageContent {
  readonly site: Site;
  readonly title: string;
  readonly content: Html;
  readonly language?: Language;
  /** A page with a style and a script of its own has them after those of every page. */
  readonly assets?: ReturnType<typeof assetsOf>;
}

const statusLink = ({ statusUrl }: Support, language: Language): Html | false =>
  statusUrl !== null && html` · <a href="${statusUrl}">${WORDS.status[language]}</a>`;

/** Returns the foot of a page: whom to ask, and where the state of the service stands. */
const footer = ({ support }: Site, language: Language): Html | false =>
  support !== null &&
  html`<footer>${WORDS.help[language]}: <a href="mailto:${support.email}">${support.email}</a>${statusLink(support, language)}</footer>`;

/** Returns the page around its content. Each address of the service in it begins with `{root}`. */
export const page = ({ title, content, site, language = 'en', assets = ASSETS }: PageContent): DocsFile => ({
  headers: assets.headers,
  body: html`<!doctype html>
<html lang="${language}" dir="${language === 'fa' ? 'rtl' : 'ltr'}" data-root="{root}"${site.isLocal && raw(' data-local')}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${raw(assets.style)}</style>
</head>
<body>
${content}
${footer(site, language)}
<script>${raw(assets.script)}</script>
</body>
</html>
`.html,
});
