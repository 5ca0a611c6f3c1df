/**
 * The inline script of the reference page: plain browser JavaScript. It fetches the document while the renderer loads. Requests go to
 * the origin and stage that served the page. The key that a reader enters stays in the page's memory.
 */
export const PAGE_SCRIPT = `
(() => {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
  dark.addEventListener('change', follow);
  follow();
  const reading = fetch('v1/openapi.json').then((response) => {
    if (!response.ok) throw new Error('status ' + response.status);
    return response.json();
  });
  const labels = [
    ['#servers', 'Server'],
    ['.examples-select-element', 'Example'],
    ['.body-param__text', 'Request body'],
    ['select.content-type', 'Media type'],
  ];
  // The renderer gives these controls no accessible name.
  const nameControls = (root) => {
    for (const [selector, name] of labels) {
      for (const control of root.querySelectorAll(selector + ':not([aria-label])')) control.setAttribute('aria-label', name);
    }
  };
  const show = async () => {
    const root = document.getElementById('reference');
    new MutationObserver(() => nameControls(root)).observe(root, { childList: true, subtree: true });
    const spec = await reading;
    SwaggerUIBundle({
      spec: { ...spec, servers: [{ url: new URL('.', location.href).href.replace(/\\/$/, '') }] },
      domNode: root,
      layout: 'BaseLayout',
      deepLinking: true,
      defaultModelsExpandDepth: -1,
      displayRequestDuration: true,
      persistAuthorization: false,
      queryConfigEnabled: false,
      syntaxHighlight: { theme: 'obsidian' },
      tryItOutEnabled: true,
      validatorUrl: null,
    });
  };
  document.addEventListener('DOMContentLoaded', () => {
    show().catch(() => {
      document.getElementById('failed').hidden = false;
    });
  });
})();
`;
