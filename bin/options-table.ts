import './require-node.mjs';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { withOptionsTable } from './stage/options-table.ts';

/** `npm run docs:options` writes the table of the stages' options into docs/deploy.md. A test fails while the table is not current. */
const page = fileURLToPath(new URL('../docs/deploy.md', import.meta.url));
writeFileSync(page, withOptionsTable(readFileSync(page, 'utf8')));
