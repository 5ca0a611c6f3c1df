/**
 * The inline style of the reference page, in addition to the renderer's: guide and operations side by side on wide screens, tables that
 * fit a phone, and dark mode.
 */
export const PAGE_STYLE = `
html { color-scheme: light dark; scroll-padding-top: 3.5rem; }
body { margin: 0; background: #fff; color: #1f2328; font-family: system-ui, sans-serif; }
.bar { position: sticky; top: 0; z-index: 2; display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; align-items: baseline;
  padding: .75rem 1.25rem; background: inherit; border-bottom: 1px solid #8884; }
.bar strong { margin-right: auto; }
.bar a { color: #0b5cad; }
.loading { padding: 0 1.25rem; line-height: 2; }
.swagger-ui .info { margin: 1.5rem 0; }
.swagger-ui .info h2 { font-size: 1.25rem; margin: 1.5rem 0 .5rem; }
.swagger-ui .info table th, .swagger-ui .info table tbody tr td, .swagger-ui .info table tbody tr td:first-of-type {
  padding: .4rem .75rem .4rem 0; vertical-align: baseline; }
.swagger-ui .scheme-container { margin: 0; padding: 1rem 0; background: none; box-shadow: none; }
.swagger-ui .wrapper { max-width: none; }
.swagger-ui .opblock-body td.response-col_links, .swagger-ui .response-col_links { display: none; }
.swagger-ui table.headers td .header-example { color: inherit; }
.swagger-ui .live-responses-table .highlight-code .microlight { padding-bottom: 2.75rem; }
@media (min-width: 1100px) {
  .swagger-ui > div:has(> .information-container) { display: grid; grid-template-columns: minmax(0, 2fr) minmax(0, 3fr);
    grid-template-rows: auto auto 1fr; }
  .swagger-ui .information-container { grid-row: 1 / 4; }
  .swagger-ui .scheme-container, .swagger-ui #operations { grid-column: 2; }
}
@media (max-width: 640px) {
  .bar { padding: .6rem .75rem; }
  .swagger-ui .wrapper, .loading { padding: 0 .75rem; }
  .swagger-ui .info .title small { top: -.4em; }
  .swagger-ui .info table:has(code) thead { display: none; }
  .swagger-ui .info table:has(code) tr { display: block; padding: .35rem 0; }
  .swagger-ui .info table:has(code) tbody tr td { display: inline-block; padding: 0 .5rem 0 0; }
  .swagger-ui .info table:has(code) tbody tr td:first-of-type { padding: 0 .5rem 0 0; min-width: 0; }
  .swagger-ui .info table:has(code) tbody tr td:last-child { display: block; }
  .swagger-ui .info code { overflow-wrap: anywhere; }
  .swagger-ui .opblock-summary-path { max-width: none; }
  .swagger-ui .opblock-tag { display: block; }
  .swagger-ui .opblock-tag small { display: block; padding: .25rem 0 0; }
  .swagger-ui .opblock-tag button { display: none; }
  .swagger-ui .opblock-body table, .swagger-ui .opblock-body tbody, .swagger-ui .opblock-body tr,
  .swagger-ui .opblock-body td:not(.response-col_links) {
    display: block; width: auto; max-width: none; min-width: 0; }
  .swagger-ui .opblock-body thead { display: none; }
  .swagger-ui .opblock-body td { padding: .15rem 0; overflow-wrap: anywhere; }
  .swagger-ui .opblock-body tr { padding: .5rem 0; }
  .swagger-ui .opblock-body input, .swagger-ui .opblock-body select, .swagger-ui .opblock-body textarea { max-width: 100%;
    box-sizing: border-box; }
  .swagger-ui .opblock-body pre { max-width: 100%; box-sizing: border-box; white-space: pre-wrap; overflow-wrap: anywhere; }
  .swagger-ui .scheme-container .schemes { flex-wrap: wrap; gap: .75rem; }
  .swagger-ui .dialog-ux .modal-ux { min-width: 0; width: calc(100% - 1.5rem); }
  .swagger-ui .auth-container input { width: 100%; box-sizing: border-box; }
}
@media (prefers-color-scheme: light) {
  .swagger-ui .info .title small { background: #5d6473; }
  .swagger-ui .info .title small.version-stamp { background: #4a6a00; }
  .swagger-ui .info a { color: #0b5cad; }
  .swagger-ui .btn.authorize { color: #14693f; border-color: #14693f; }
  .swagger-ui .btn.authorize svg { fill: #14693f; }
  .swagger-ui .btn.cancel { color: #b42318; border-color: #b42318; }
  .swagger-ui .btn.execute { background: #0b5cad; border-color: #0b5cad; }
  .swagger-ui .opblock.opblock-get .opblock-summary-method { background: #0b5cad; }
  .swagger-ui .opblock.opblock-post .opblock-summary-method { background: #14693f; }
  .swagger-ui .opblock.opblock-delete .opblock-summary-method { background: #b42318; }
  .swagger-ui .opblock.opblock-delete .renderedMarkdown code { color: #5b0ea6; }
  .swagger-ui .parameter__in { color: #4b5563; }
}
@media (prefers-color-scheme: dark) {
  html.dark-mode .swagger-ui .opblock .try-out .btn.cancel { color: #ffa8a0; border-color: #ffa8a0; }
  body { background: #1c2022; color: #e6e8ea; }
  .bar a { color: #8ab8f0; }
  .swagger-ui table.headers td, .swagger-ui table.headers .header-col { color: inherit; }
}
`;
