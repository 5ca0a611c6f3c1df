/** Shows the JSON result of a command to people: tables and lists that fit the terminal. */
import stringWidth from 'string-width';
import { terminalColumns } from 'terminal-columns';
import { escaped } from './escaped.ts';

/** Objects of the JSON result. */
export interface View {
  readonly rows: readonly object[];
  /** The fields that are shown, in this order. By default, all of the first row. */
  readonly fields?: readonly string[];
  /** Those for which a terminal of 80 columns has room. By default, all. */
  readonly terminalFields?: readonly string[];
  /** What the rows of a table are, in the plural: without rows, it is `No keys.` Undefined: each row is a list of its fields. */
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
  return escaped(
    /(?:^|_)at$/.test(field) ? String(value).slice(0, 16).replace('T', ' ') : String(flat(value)),
  );
};

/** A column of names or sentences is not made narrower than this. */
const LEAST_WIDTH = 12;

/**
 * The widths of the columns: each has the width of its cells, and those of names and sentences share what is left. Undefined: the terminal is
 * too narrow for that.
 */
const widthsFor = (rows: readonly Row[], fields: readonly string[], terminalWidth: number) => {
  const own = fields.map((_, column) => Math.max(...rows.map((row) => stringWidth(row[column] ?? ''))) + GAP);
  const isText = fields.map((field, column) => /name$/.test(field) || column === fields.length - 1);
  let left = terminalWidth + GAP - own.reduce((sum, width, column) => sum + (isText[column] ? 0 : width), 0);
  let open = isText.filter(Boolean).length;
  const widths = [...own];
  // The narrow ones first: what they do not need is for the others.
  const texts = own.map((width, column) => ({ width, column })).filter(({ column }) => isText[column]);
  for (const { width, column } of texts.sort((a, b) => a.width - b.width)) {
    const share = Math.min(width, Math.floor(left / open));
    if (share < Math.min(width, LEAST_WIDTH)) return undefined;
    widths[column] = share;
    left -= share;
    open -= 1;
  }
  return widths.map((width) => ({ width: width - GAP, paddingRight: GAP }));
};

/** Aligns rows. Where even wrapped texts leave no room, the library moves the columns that are left to the next line. */
const aligned = (rows: readonly Row[], fields: readonly string[], terminalWidth: number): string => {
  const byContent = fields.map((_, column, { length }) =>
    column === length - 1 ? 'auto' : { width: 'content-width' as const, paddingRight: GAP },
  );
  const columns = widthsFor(rows, fields, terminalWidth);
  const text = terminalColumns(
    rows.map((row) => [...row]),
    columns === undefined
      ? { stdoutColumns: terminalWidth, columns: byContent }
      : { stdoutColumns: terminalWidth + GAP, columns },
  );
  return `${text.replace(/ +$/gm, '')}\n`;
};

const renderView = (view: View, width: number | undefined): string => {
  const { rows, items, fields: all = Object.keys(rows[0] ?? {}), terminalFields = all } = view;
  if (items !== undefined && rows.length === 0) return `No ${items}.\n`;
  const fields = width === undefined ? all : terminalFields;
  const headings = fields.map(headingOf);
  const cells = rows.map((row) =>
    fields.map((field) => textOf(field, (row as Readonly<Record<string, unknown>>)[field])),
  );
  const format = (table: readonly Row[], names: readonly string[]): string =>
    aligned(table, names, width ?? Number.POSITIVE_INFINITY);
  if (items !== undefined) return format([headings, ...cells], fields);
  const asList = (row: Row): Row[] => headings.map((heading, index) => [heading, row[index] ?? '']);
  return cells.map((row) => format(asList(row), ['field', 'value'])).join('\n');
};

/** Formats a result for a width in columns; undefined: all fields, and no line is wrapped. Blocks are divided by a blank line. */
export const render = (result: Block | readonly Block[], width: number | undefined): string =>
  [result]
    .flat()
    .map((block) => (typeof block === 'string' ? block : renderView(block as View, width)))
    .join('\n');
