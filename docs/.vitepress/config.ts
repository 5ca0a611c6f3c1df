import { type DefaultTheme, defineConfig } from 'vitepress';
import { useSidebar } from 'vitepress-openapi';
import llms from 'vitepress-plugin-llms';
import { PLACEHOLDERS } from '../../shared/docs/site.ts';
import { codeAnchors, slugify } from './anchors.ts';
import { writeClients } from './client-files.ts';
import { usedGrammars } from './grammars.ts';
import { entryOf, GUIDES, PERSIAN_GUIDES, sellerPages } from './guides.ts';
import { operations, searchText, spec } from './openapi.ts';
import { PERSIAN, PERSIAN_SEARCH } from './persian.ts';

const reference = useSidebar({ spec, linkPrefix: '/operations/' })
  .generateSidebarGroups()
  .map((group: DefaultTheme.SidebarItem) => ({ ...group, collapsed: false }));

const english = [
  ...Object.entries(GUIDES).map(([text, names]) => ({ text, items: names.map(entryOf) })),
  ...reference,
];

/** `operations/[operationId].md` is one file of many pages, which the search does not read. */
const sectionsOfOperation = (file: string) => {
  const operation = operations.find(({ operationId }) => file.endsWith(`/operations/${operationId}.md`));
  // Undefined is the default of VitePress, which its type does not say.
  return (operation && [{ titles: [operation.summary], text: searchText(operation) }]) as {
    titles: string[];
    text: string;
  }[];
};

/** The documentation site, for `npx vitepress build docs`; lib/site.ts builds it. */
export default defineConfig({
  srcDir: 'sellers',
  outDir: process.env.SITE_FOLDER ?? '.vitepress/dist',
  base: `${PLACEHOLDERS.base}/docs/`,
  cleanUrls: true,
  // The page names no data in a script of its own, so that the policy of scripts is the same for all pages.
  metaChunk: true,
  // A first page loads what it shows: each asset is a request to a function.
  router: { prefetchLinks: false },
  title: 'Buyer Linking',
  description: 'An HTTP API: link buyers to your seller account, and sign buyers in by phone.',
  locales: {
    root: { label: 'English', lang: 'en', link: '/' },
    fa: { label: 'فارسی', lang: 'fa', dir: 'rtl', link: '/fa/quick-start', themeConfig: PERSIAN },
  },
  themeConfig: {
    i18nRouting: false,
    outline: [2, 3],
    notFound: { title: 'Page not found', quote: 'There is no page at this address.', linkText: 'First page' },
    nav: [
      { text: 'Quick start', link: '/quick-start' },
      { text: 'Reference', link: '/operations/create-user', activeMatch: '/operations/' },
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
        miniSearch: { _splitIntoSections: sectionsOfOperation },
      },
    },
  },
  // The title of a page of `operations/[operationId].md`.
  transformPageData: ({ params }) => (params ? { title: params.summary } : undefined),
  // In no hashed file, which browsers keep for a year: what a stage sets may change.
  transformHead: () => [
    ['meta', { name: 'support-email', content: PLACEHOLDERS.email }],
    ['meta', { name: 'status-url', content: PLACEHOLDERS.statusUrl }],
    ['meta', { name: 'buyer-app-url', content: PLACEHOLDERS.buyerAppUrl }],
  ],
  markdown: { anchor: { slugify }, config: codeAnchors },
  buildEnd: ({ outDir }) => writeClients(outDir),
  vite: {
    build: { target: 'es2022', assetsInlineLimit: 0, chunkSizeWarningLimit: 3000 },
    plugins: [
      sellerPages(),
      usedGrammars(),
      llms({ sidebar: english, injectLLMHint: false, excludeIndexPage: false, generateLLMsFullTxt: false }),
    ],
  },
});
