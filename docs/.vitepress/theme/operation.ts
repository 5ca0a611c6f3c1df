import { inBrowser } from 'vitepress';
import type { App, Component } from 'vue';

/** Adds the styles of operations, if the reader comes from a page without them. */
const addStyles = async (): Promise<void> => {
  if (document.querySelector(`link[href="${__OPERATION_STYLES__}"]`)) return;
  const link = Object.assign(document.createElement('link'), {
    rel: 'stylesheet',
    href: __OPERATION_STYLES__,
  });
  await new Promise((resolve) => {
    link.onload = link.onerror = resolve;
    document.head.append(link);
  });
};

/** What vitepress-openapi leaves without a name for screen readers. */
const NAMES: Readonly<Record<string, (control: Element) => string>> = {
  '[role=checkbox][id^=enable-]': ({ id }) => `Send ${id.split(':').at(-1)}`,
  'input + button': () => 'Clear',
  '.cm-content': () => 'Body as JSON',
};

/** Names controls of the form, which come and go while a reader types. */
const nameControls = (): void => {
  const name = () => {
    for (const [selector, nameOf] of Object.entries(NAMES))
      for (const control of document.querySelectorAll(`.OAPath ${selector}`))
        control.ariaLabel ??= nameOf(control);
  };
  name();
  new MutationObserver(name).observe(document.body, { childList: true, subtree: true });
};

const color = (foreground: string, ...scope: string[]) => ({ scope, settings: { foreground } });

interface CodeColors {
  readonly text: string;
  readonly name: string;
  readonly value: string;
  readonly keyword: string;
}

/** Colors of code with enough contrast, under the name that vitepress-openapi asks for. */
const codeColors = (type: 'light' | 'dark', { text, name, value, keyword }: CodeColors) => ({
  name: `vitesse-${type}`,
  type,
  colors: { 'editor.foreground': text },
  tokenColors: [
    color(name, 'entity.name.function', 'support.function'),
    color(value, 'string', 'punctuation.definition.string'),
    color(keyword, 'keyword', 'storage', 'constant', 'variable.parameter'),
  ],
});

const CODE_COLORS = {
  light: codeColors('light', { text: '#24292e', name: '#0a5c36', value: '#032f62', keyword: '#a0212d' }),
  dark: codeColors('dark', { text: '#e1e4e8', name: '#85e89d', value: '#9ecbff', keyword: '#f97583' }),
};

/** Loads the component that shows an operation: it is ten times as large as everything else. */
export const loadOperation = async (app: App): Promise<Component> => {
  const [{ theme, useOpenapi }, { data: spec }] = await Promise.all([
    import('vitepress-openapi/client'),
    import('../spec.data.ts'),
    inBrowser && addStyles(),
  ]);
  if (inBrowser) nameControls();
  useOpenapi({
    spec,
    config: {
      theme: { highlighterTheme: CODE_COLORS },
      // A key that a reader types is forgotten with the page.
      storage: { persistAuth: false },
      operation: { hiddenSlots: ['branding'] },
      // A body is typed and pasted as text.
      playground: { jsonEditor: { mode: 'text' } },
      // Names, types and rules first; the example is a click away.
      requestBody: { defaultView: 'schema' },
      response: { body: { defaultView: 'schema' } },
    },
  });
  await theme.enhanceApp({ app } as Parameters<typeof theme.enhanceApp>[0]);
  return app.component('OAOperation') ?? {};
};
