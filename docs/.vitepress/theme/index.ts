import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import { defineAsyncComponent, h } from 'vue';
import 'vitepress-openapi/dist/style.css';
import KeyPage from './KeyPage.vue';
import SupportLine from './SupportLine.vue';
import './style.css';

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'doc-after': () => h(SupportLine) }),
  enhanceApp({ app }) {
    app.component('KeyPage', KeyPage);
    // Loaded by the pages of operations alone: it is ten times as large as everything else.
    app.component(
      'Operation',
      defineAsyncComponent(async () => {
        const [{ theme, useOpenapi }, { spec }] = await Promise.all([
          import('vitepress-openapi/client'),
          import('../openapi.ts'),
        ]);
        // A key that a reader types is forgotten with the page.
        useOpenapi({
          spec,
          config: { storage: { persistAuth: false }, operation: { hiddenSlots: ['branding'] } },
        });
        await theme.enhanceApp({ app } as Parameters<typeof theme.enhanceApp>[0]);
        return app.component('OAOperation') ?? {};
      }),
    );
  },
} satisfies Theme;
