import { inBrowser, type Router, type Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import { defineAsyncComponent, h, nextTick } from 'vue';
import KeyPage from './KeyPage.vue';
import { provideLanguages } from './languages.ts';
import { loadOperation } from './operation.ts';
import SupportLine from './SupportLine.vue';
import { searchOptions } from './search.ts';
import './style.css';

/**
 * Loads the page again from the server when a part of it cannot be loaded: the router would show "Page not found", and would take what
 * hashmap.json answers, a problem too, as its map. Not before a click or a key in this page, which would load itself again and again.
 */
const loadAgain = (): void => {
  if (navigator.userActivation?.hasBeenActive) location.reload();
};

/** Marks the row to which the address leads: the router changes the address in a way that `:target` does not see. */
const markRow = (): void => {
  document.querySelector('tr.target')?.classList.remove('target');
  document.getElementById(decodeURIComponent(location.hash.slice(1)))?.classList.add('target');
};

const afterRouteChange = (router: Router) => (): void => {
  if (router.route.data.isNotFound) loadAgain();
  nextTick(markRow);
};

export default {
  extends: DefaultTheme,
  Layout: {
    setup() {
      provideLanguages();
      return () => h(DefaultTheme.Layout, null, { 'doc-after': () => h(SupportLine) });
    },
  },
  enhanceApp({ app, router, siteData }) {
    if (inBrowser) {
      // Vite says so of every part but a page, of which the router knows.
      addEventListener('vite:preloadError', loadAgain);
      addEventListener('hashchange', markRow);
      router.onAfterRouteChange = afterRouteChange(router);
    }
    siteData.value.themeConfig.search.options.miniSearch = { searchOptions };
    app.component('KeyPage', KeyPage);
    app.component(
      'Operation',
      defineAsyncComponent(() => loadOperation(app)),
    );
  },
} satisfies Theme;
