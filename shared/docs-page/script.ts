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
  const show = async () => {
    const spec = await reading;
    SwaggerUIBundle({
      spec: { ...spec, servers: [{ url: new URL('.', location.href).href.replace(/\\/$/, '') }] },
      domNode: document.getElementById('reference'),
      layout: 'BaseLayout',
      deepLinking: true,
      defaultModelsExpandDepth: -1,
      displayRequestDuration: true,
      persistAuthorization: false,
      queryConfigEnabled: false,
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
