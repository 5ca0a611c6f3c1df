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

/** Light colors of code with enough contrast, under the one name that vitepress-openapi asks for. */
const LIGHT_CODE = {
  name: 'vitesse-light',
  type: 'light',
  colors: { 'editor.foreground': '#24292e', 'editor.background': '#ffffff' },
  tokenColors: [
    color('#0a5c36', 'entity.name.function', 'support.function'),
    color('#032f62', 'string', 'punctuation.definition.string'),
    color('#a0212d', 'keyword', 'storage', 'constant', 'variable.parameter'),
  ],
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
      theme: { highlighterTheme: { light: LIGHT_CODE } },
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
