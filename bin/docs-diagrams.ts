import './require-node.mjs';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { guideFile } from '#reference/pages/guide-page.ts';
import { DIAGRAMS, diagramFile, diagramSources } from '#reference/pages/markdown.ts';
import { GUIDE_NAMES } from '#shared/docs/files.ts';
import { commandLine } from './command-line.ts';

const MERMAID = 'mermaid@12.3.0';

const USAGE = `Usage: npm run docs:diagrams

Draws the Mermaid diagrams of the guides to docs/sellers/diagrams/, in Chromium (CHROMIUM_PATH, by default /usr/bin/chromium).
Downloads ${MERMAID} from the npm registry. The build fails while a diagram is not drawn.`;

commandLine(USAGE, {});

const OPTIONS = {
  theme: 'neutral',
  themeVariables: { noteBkgColor: '#ffffff', noteTextColor: '#333333', noteBorderColor: '#999999' },
  fontFamily: 'system-ui, sans-serif',
  htmlLabels: false,
  deterministicIds: true,
  sequence: { mirrorActors: false, wrap: true, diagramMarginX: 5, actorMargin: 10, width: 140, boxMargin: 5 },
};

/** Returns the path of Mermaid's browser build in a folder, downloaded by npm. */
const downloadMermaid = (folder: string): string => {
  const archive = execFileSync('npm', ['pack', '--silent', MERMAID], {
    cwd: folder,
    encoding: 'utf8',
  }).trim();
  execFileSync('tar', ['-xzf', archive, 'package/dist/mermaid.min.js'], { cwd: folder });
  return join(folder, 'package', 'dist', 'mermaid.min.js');
};

/** Draws in the page. Returns the SVG in its natural size, without the rules and the markers that it does not use. */
const DRAW = `async ([options, source]) => {
  mermaid.initialize(options);
  document.body.innerHTML = (await mermaid.render('diagram', source)).svg;
  const svg = document.querySelector('svg');
  const { width, height } = svg.viewBox.baseVal;
  svg.setAttribute('width', Math.ceil(width));
  svg.setAttribute('height', Math.ceil(height));
  const style = svg.querySelector('style');
  const used = [...style.sheet.cssRules].filter((rule) => rule.selectorText && document.querySelector(rule.selectorText));
  style.textContent = used.map((rule) => rule.cssText).join('');
  const markup = svg.outerHTML;
  for (const part of svg.querySelectorAll('marker, symbol, defs > *')) {
    if (part.id !== '' && !markup.includes('#' + part.id + ')')) part.remove();
  }
  return new XMLSerializer().serializeToString(svg);
}`;

const draw = async (browser: Browser, mermaid: string, source: string): Promise<string> => {
  const page = await browser.newPage();
  await page.setContent('<!doctype html>');
  await page.addScriptTag({ path: mermaid });
  const svg: string = await page.evaluate(`(${DRAW})(${JSON.stringify([OPTIONS, source])})`);
  await page.close();
  return svg;
};

const folder = mkdtempSync(join(tmpdir(), 'buyer-linking-mermaid-'));
const mermaid = downloadMermaid(folder);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--disable-gpu'],
});
const sources = GUIDE_NAMES.flatMap((name) =>
  diagramSources(readFileSync(new URL(`../${guideFile(name)}`, import.meta.url), 'utf8')),
);
rmSync(DIAGRAMS, { recursive: true, force: true });
mkdirSync(DIAGRAMS);
for (const source of sources) writeFileSync(diagramFile(source), `${await draw(browser, mermaid, source)}\n`);
await browser.close();
rmSync(folder, { recursive: true });
