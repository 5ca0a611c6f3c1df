import './require-node.mjs';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { comparable } from './admin-docs/comparable.ts';
import { render } from './admin-docs/render.ts';

/** `npm run docs:admin` writes docs/admin.md from its template: every command in it is run. `--check` compares instead. */
const TEMPLATE = fileURLToPath(new URL('./admin-docs/template.md', import.meta.url));
const DOCUMENT = fileURLToPath(new URL('../docs/admin.md', import.meta.url));

const rendered = await render(await readFile(TEMPLATE, 'utf8'));
if (process.argv.includes('--check')) {
  const isCurrent = comparable(rendered) === comparable(await readFile(DOCUMENT, 'utf8'));
  if (!isCurrent) console.error('docs/admin.md does not show what the commands answer: npm run docs:admin');
  process.exitCode = isCurrent ? 0 : 1;
} else {
  await writeFile(DOCUMENT, rendered);
}
