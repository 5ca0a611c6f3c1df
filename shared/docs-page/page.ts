import { createHash } from 'node:crypto';
import type { DocsPageFile } from './files.ts';
import type { OpenApiDocument } from './openapi-schema.ts';
import { PAGE_SCRIPT } from './script.ts';
import { PAGE_STYLE } from './style.ts';

/** The reference page and its Content-Security-Policy. */
export interface DocsPage {
  readonly html: string;
  readonly contentSecurityPolicy: string;
}

const SCRIPT: DocsPageFile = 'swagger-ui-5.35.0.js';
const STYLE: DocsPageFile = 'swagger-ui-5.35.0.css';

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (character) => ESCAPES[character] ?? '');

const sha256 = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/**
 * Allows this origin only. The inline script and style are allowed by hash, so no other inline code runs. The renderer's icons are
 * data: images in its style sheet.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  `script-src 'self' ${sha256(PAGE_SCRIPT)}`,
  `style-src 'self' ${sha256(PAGE_STYLE)}`,
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const operationsOf = (document: OpenApiDocument): string =>
  Object.entries(document.paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods as Record<string, { summary?: string }>).map(
        ([method, { summary = '' }]) =>
          `<li><code>${escapeHtml(method.toUpperCase())} ${escapeHtml(path)}</code> ${escapeHtml(summary)}</li>`,
      ),
    )
    .join('\n');

/**
 * Builds the page. It shows its heading and the list of operations at once; the renderer replaces the list. Links are relative to
 * /docs, so they also work under a stage path (/dev/docs).
 */
export const docsPage = (document: OpenApiDocument): DocsPage => {
  const title = escapeHtml(`${document.info.title} API`);
  return {
    contentSecurityPolicy,
    html: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
<script>${PAGE_SCRIPT}</script>
<link rel="stylesheet" href="docs/${STYLE}">
<style>${PAGE_STYLE}</style>
<script src="docs/${SCRIPT}" defer></script>
</head>
<body>
<header class="bar">
<strong>${title}</strong>
<a href="#operations">Operations</a>
<a href="v1/openapi.json">OpenAPI</a>
</header>
<div id="reference">
<main class="loading" id="operations">
<h1>${title} <small>v${escapeHtml(document.info.version)}</small></h1>
<p id="failed" role="alert" hidden>The reference could not be loaded. Please try again, or read the OpenAPI document.</p>
<noscript><p>The full reference needs JavaScript; the OpenAPI document does not.</p></noscript>
<h2>Operations</h2>
<ul>
${operationsOf(document)}
</ul>
</main>
</div>
</body>
</html>
`,
  };
};
