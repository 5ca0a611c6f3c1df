import rtlcss from 'postcss-rtlcss';
import { Mode } from 'postcss-rtlcss/options';
import { defineConfig, type HeadConfig } from 'vitepress';
import { FIRST_PAGES, PLACEHOLDERS } from '../../shared/docs/site.ts';
import { codeAnchors, slugify } from './anchors.ts';
import { writeClients } from './client-files.ts';
import { usedGrammars } from './grammars.ts';
import { descriptionOf, entryOf, GUIDES, PERSIAN_GUIDES, sellerPages } from './guides.ts';
import { publishedHtml } from './html.ts';
import { writeMarkdown } from './markdown.ts';
import { operations, tags } from './openapi.ts';
import { OPERATION_STYLES, writeOperationStyles } from './operation-styles.ts';
import { PERSIAN, PERSIAN_SEARCH } from './persian.ts';
import { searchedHtml, sectionsOfOperation } from './search-index.ts';
import { shippedPackages } from './shipped.ts';

/** Two rings, linked. */
const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" fill="none" stroke="#3451b2" stroke-width="4"><circle cx="11" cy="16" r="8"/><circle cx="21" cy="16" r="8"/></svg>',
)}`;

const DESCRIPTION = 'An HTTP API: link buyers to your seller account, and sign buyers in by phone.';

const linkTo = (rel: string, href: string, type: string): HeadConfig => ['link', { rel, href, type }];

const reference = tags.map(({ name }) => ({
  text: name,
  items: operations
    .filter((operation) => operation.tags.includes(name))
    .map(({ method, summary, operationId }) => ({
      text: `<span class="method ${method.toLowerCase()}">${method}</span> ${summary}`,
      link: `/operations/${operationId}`,
    })),
}));

const english = [
  ...Object.entries(GUIDES).map(([text, names]) => ({ text, items: names.map(entryOf) })),
  ...reference,
];

/** The documentation site, for `npx vitepress build docs`; lib/site.ts builds it. */
export default defineConfig({
  srcDir: 'sellers',
  outDir: process.env.SITE_FOLDER ?? '.vitepress/dist',
  base: `${PLACEHOLDERS.base}/docs/`,
  cleanUrls: true,
  // Pages enter the search index in one order, so that two builds of the same sources are equal.
  buildConcurrency: 1,
  // The page names no data in a script of its own, so that the policy of scripts is the same for all pages.
  metaChunk: true,
  // A first page loads what it shows: each asset is a request to a function.
  router: { prefetchLinks: false },
  title: 'Buyer Linking',
  description: DESCRIPTION,
  // Without an icon a browser asks for /favicon.ico, which is outside of the site.
  head: [['link', { rel: 'icon', href: ICON }]],
  locales: {
    root: { label: 'English', lang: 'en', link: '/' },
    fa: { label: 'فارسی', lang: 'fa', dir: 'rtl', link: `/${FIRST_PAGES.fa}`, themeConfig: PERSIAN },
  },
  themeConfig: {
    i18nRouting: false,
    outline: [2, 3],
    notFound: { title: 'Page not found', quote: 'There is no page at this address.', linkText: 'First page' },
    nav: [
      { text: 'Quick start', link: '/quick-start' },
      { text: 'Reference', link: `/${FIRST_PAGES.operations}`, activeMatch: '/operations/' },
      { text: 'Your key', link: '/key' },
    ],
    sidebar: {
      '/': english,
      '/fa/': [{ text: 'راهنماها', items: PERSIAN_GUIDES.map(entryOf) }, ...reference],
    },
    search: {
      provider: 'local',
      options: {
        locales: { fa: PERSIAN_SEARCH },
        // What the search finds of a guide, and of the pages of operations, which are one file.
        _render: searchedHtml,
        miniSearch: { _splitIntoSections: sectionsOfOperation },
      },
    },
  },
  // A page of `operations/[operationId].md` has no heading in its file.
  transformPageData: ({ params, relativePath }) =>
    params
      ? { title: params.title, description: params.description }
      : { description: descriptionOf(relativePath) || DESCRIPTION },
  // In no hashed file, which browsers keep for a year: what a stage sets may change.
  transformHead: ({ page }) => [
    ['meta', { name: 'support-email', content: PLACEHOLDERS.email }],
    ['meta', { name: 'status-url', content: PLACEHOLDERS.statusUrl }],
    ['meta', { name: 'buyer-app-url', content: PLACEHOLDERS.buyerAppUrl }],
    ...(page === '404.md' ? [] : [linkTo('alternate', `${PLACEHOLDERS.base}/docs/${page}`, 'text/markdown')]),
    ...(page.startsWith('operations/') ? [linkTo('stylesheet', OPERATION_STYLES, 'text/css')] : []),
  ],
  transformHtml: (html, _id, { page }) => publishedHtml(html, page),
  markdown: { anchor: { slugify }, config: codeAnchors },
  buildEnd: async ({ outDir }) => {
    await writeClients(outDir);
    await writeMarkdown(outDir, DESCRIPTION);
    await writeOperationStyles(outDir);
  },
  vite: {
    define: { __OPERATION_STYLES__: JSON.stringify(OPERATION_STYLES) },
    // The theme is written for left to right: it mirrors its sidebar, gaps and borders on Persian pages.
    css: { postcss: { plugins: [rtlcss({ mode: Mode.override, rtlPrefix: ':where([dir="rtl"])' })] } },
    build: { target: 'es2022', assetsInlineLimit: 0, chunkSizeWarningLimit: 3000 },
    plugins: [sellerPages(), usedGrammars(), shippedPackages()],
  },
});
