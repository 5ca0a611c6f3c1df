/** What the reference page adds to its renderer's style sheet: its heading, its dark colours, and room on a phone. */
export const PAGE_STYLE = `
html { color-scheme: light dark; }
body { margin: 0; background: #fff; color: #1f2328; font-family: system-ui, sans-serif; }
.bar { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; align-items: baseline; justify-content: space-between;
  max-width: 1420px; margin: 0 auto; padding: 1rem 1.25rem; box-sizing: border-box; }
.bar h1 { font-size: 1.25rem; margin: 0; }
.bar a { color: #0b5cad; }
.loading { max-width: 1420px; margin: 0 auto; padding: 0 1.25rem; box-sizing: border-box; line-height: 2; }
@media (prefers-color-scheme: dark) {
  body { background: #1c2022; color: #e6e8ea; }
  .bar a { color: #8ab8f0; }
}
`;
