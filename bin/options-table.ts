import './require-node.mjs';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { commandLine } from './command-line.ts';
import { withOptionsTable } from './stage/options-table.ts';

commandLine(
  "Usage: npm run docs:options\n\nWrites the table of the stages' options into docs/deploy.md.",
  {},
);

/** `npm run docs:options` writes the table of the stages' options into docs/deploy.md. A test fails while the table is not current. */
const page = fileURLToPath(new URL('../docs/deploy.md', import.meta.url));
writeFileSync(page, withOptionsTable(readFileSync(page, 'utf8')));
