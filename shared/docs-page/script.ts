/**
 * What the reference page runs: plain browser JavaScript, written into the page. The key that a reader enters is kept in the page's
 * memory alone, and requests go to the origin and stage that served the page.
 */
export const PAGE_SCRIPT = `
(() => {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
  dark.addEventListener('change', follow);
  follow();
  document.addEventListener('DOMContentLoaded', () => {
    SwaggerUIBundle({
      url: new URL('v1/openapi.json', location.href).href,
      domNode: document.getElementById('reference'),
      layout: 'BaseLayout',
      deepLinking: true,
      defaultModelsExpandDepth: -1,
      displayRequestDuration: true,
      persistAuthorization: false,
      queryConfigEnabled: false,
      requestSnippetsEnabled: false,
      tryItOutEnabled: true,
      validatorUrl: null,
    });
  });
})();
`;
