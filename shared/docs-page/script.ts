/**
 * What the reference page runs: plain browser JavaScript, written into the page. It reads the document while the renderer loads.
 * Requests go to the origin and stage that served the page; the key that a reader enters is kept in the page's memory alone.
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
  // The renderer leaves these without a name that a screen reader could say.
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
