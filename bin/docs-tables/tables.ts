/** The tables of the docs that follow from the code. */
import { retryTable } from '#reference/openapi/retry-table.ts';
import { operationsTable } from './operations-table.ts';
import { optionsTable } from './options-table.ts';

interface Table {
  readonly page: string;
  /** What the table lists: it names the markers around the table. */
  readonly name: string;
  readonly text: () => string;
}

const TABLES: readonly Table[] = [
  { page: 'README.md', name: 'operations', text: operationsTable },
  { page: 'docs/errors.md', name: 'retries', text: retryTable },
  { page: 'docs/deploy.md', name: 'options', text: optionsTable },
];

/** Paths from the root of the repository. */
export const PAGES_WITH_TABLES: readonly string[] = TABLES.map(({ page }) => page);

const withTable = (content: string, { page, name, text }: Table): string => {
  const start = `<!-- The table of ${name}: npm run docs:tables -->`;
  const end = `<!-- End of the table of ${name} -->`;
  const [before, rest] = content.split(start);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) {
    throw new Error(`${page} has no markers for the table of ${name}.`);
  }
  return `${before}${start}\n${text()}\n${end}${after}`;
};

/** Returns the content of a page with its present tables between their markers. Throws if a marker is missing. */
export const withTables = (page: string, content: string): string =>
  TABLES.filter((table) => table.page === page).reduce(withTable, content);
