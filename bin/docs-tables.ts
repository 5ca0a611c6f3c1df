import './require-node.mjs';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { commandLine } from './command-line.ts';
import { PAGES_WITH_TABLES, withTables } from './docs-tables/tables.ts';

const USAGE = `Usage: npm run docs:tables

Writes the tables of the docs that follow from the code: operations, requests that are safe to repeat,
and the options of a stage. A test fails while a table is not current.`;

commandLine(USAGE, {});

for (const page of PAGES_WITH_TABLES) {
  const file = fileURLToPath(new URL(`../${page}`, import.meta.url));
  writeFileSync(file, withTables(page, readFileSync(file, 'utf8')));
}
