/** Shows the JSON result of a command to people: tables and lists that fit the terminal, and tab-separated values in a pipe. */
import { terminalColumns } from 'terminal-columns';

/** Objects of the JSON result. */
export interface View {
  readonly rows: readonly object[];
  /** The fields that are shown, in this order. By default, all of the first row. */
  readonly fields?: readonly string[];
  /** Those that a terminal shows, for which 80 columns have room. By default, all. */
  readonly terminalFields?: readonly string[];
  /** What the rows of a table are, in the plural: without rows, a terminal shows `No keys.` Undefined: each row is a list of its fields. */
  readonly items?: string;
}

/** A part of a result. A text ends with a newline. */
export type Block = string | View;

type Row = readonly string[];

const GAP = 2;

/** `key` of `key_id`, `created (UTC)` of `created_at`, `display name` of `display_name`. The last four characters of a secret have a shorter one. */
const headingOf = (field: string): string =>
  field
    .replace(/^last_four$/, 'ends in')
    .replace(/^(seller|key|buyer|user)_id$/, '$1')
    .replace(/^at$/, 'time_at')
    .replace(/_at$/, ' (UTC)')
    .replaceAll('_', ' ');

/** A list or an object of the JSON result on one line. */
const flat = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.join(' ');
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => a.localeCompare(b));
  return entries.map(([name, each]) => `${name}: ${each}`).join(', ');
};

/** A value of the JSON result as people read it. Times are ISO, and shown without seconds. */
const textOf = (field: string, value: unknown): string => {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return value.toLocaleString('en');
  if (value === null || value === undefined) return /_at$/.test(field) ? 'never' : '–';
  return /(?:^|_)at$/.test(field) ? String(value).slice(0, 16).replace('T', ' ') : String(flat(value));
};

/** Aligns rows. The last column is wrapped; where the columns do not fit, the library moves those that are left to the next line. */
const aligned = (rows: readonly Row[], terminalWidth: number): string => {
  const columns = (rows[0] ?? []).map((_, column, { length }) =>
    column === length - 1 ? 'auto' : { width: 'content-width' as const, paddingRight: GAP },
  );
  const text = terminalColumns(
    rows.map((row) => [...row]),
    { stdoutColumns: terminalWidth, columns },
  );
  return `${text.replace(/ +$/gm, '')}\n`;
};

/** What a spreadsheet runs when it opens a file: a formula, also in full-width characters. Numbers and phones only begin like one. */
const FORMULA = /^["'\s]*(?:[=@]|[+-](?![\d.,]*$))/;

/** A cell on one line, quoted as RFC 4180 says. An apostrophe before a formula makes it text. Numbers and times are as JSON has them. */
const tsvCell = (value: unknown): string => {
  const text = String(flat(value) ?? '').replace(/\s+/g, ' ');
  const safe = FORMULA.test(text.normalize('NFKC')) ? `'${text}` : text;
  return safe.includes('"') ? `"${safe.replaceAll('"', '""')}"` : safe;
};

const asTsv = (rows: readonly Row[]): string => rows.map((row) => `${row.join('\t')}\n`).join('');

const renderView = (view: View, width?: number): string => {
  const { rows, items, fields: all = Object.keys(rows[0] ?? {}), terminalFields = all } = view;
  const isPipe = width === undefined;
  const fields = isPipe ? all : terminalFields;
  if (!isPipe && items !== undefined && rows.length === 0) return `No ${items}.\n`;
  const format = isPipe ? asTsv : (table: readonly Row[]) => aligned(table, width);
  const headings = isPipe ? fields : fields.map(headingOf);
  const cells = rows.map((row) =>
    fields.map((field) => {
      const value = (row as Readonly<Record<string, unknown>>)[field];
      return isPipe ? tsvCell(value) : textOf(field, value);
    }),
  );
  if (items !== undefined) return format([headings, ...cells]);
  return cells.map((row) => format(headings.map((heading, index) => [heading, row[index] ?? '']))).join('\n');
};

/** Formats a result for a terminal of this width, or for a pipe, which has none. Blocks are divided by a blank line. */
export const render = (result: Block | readonly Block[], width: number | undefined): string =>
  [result]
    .flat()
    .map((block) => (typeof block === 'string' ? block : renderView(block as View, width)))
    .join('\n');
