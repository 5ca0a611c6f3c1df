/** Shows the JSON result of a command to people: a table or a list of its fields, and tab-separated values in a pipe. */
import { stripVTControlCharacters, styleText } from 'node:util';
import stringWidth from 'string-width';
import { terminalColumns } from 'terminal-columns';

/** Objects of the JSON result as rows. */
export interface Table {
  /** What the rows are, in the plural. A terminal shows `No keys.` in place of a table without rows. */
  readonly items: string;
  readonly rows: readonly object[];
  /** The fields of a row that are shown, in this order. */
  readonly fields: readonly string[];
  /** How many of the last fields a narrow terminal leaves out. */
  readonly optional?: number;
}

/** An object of the JSON result, a line for each field. */
export interface Item {
  readonly item: object;
  /** All by default. */
  readonly fields?: readonly string[];
}

/** A part of a result. A text ends with a newline. */
export type Block = string | Table | Item;

/** Where a result is written: a terminal of this many columns, or a pipe or file, which has none. */
export interface Output {
  readonly columns: number | undefined;
  readonly hasColor: boolean;
}

type Row = readonly string[];

const GAP = 2;

/** The least width of a column whose cells are wrapped. */
const LEAST_WIDTH = 12;

const STATUS_COLORS: Readonly<Record<string, 'green' | 'yellow' | 'red'>> = {
  active: 'green',
  pending: 'yellow',
  'seller suspended': 'red',
  suspended: 'red',
  revoked: 'red',
  expired: 'red',
};

/** `key` of `key_id`, `created (UTC)` of `created_at`, `last four` of `last_four`. */
const headingOf = (field: string): string =>
  field
    .replace(/^(seller|key|buyer|user)_id$/, '$1')
    .replace(/_at$/, ' (UTC)')
    .replaceAll('_', ' ');

/** A value of the JSON result as people read it. Times are ISO, and shown without seconds. */
const textOf = (field: string, value: unknown): string => {
  if (Array.isArray(value)) return value.join(' ');
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return value.toLocaleString('en');
  if (value === null || value === undefined) return /_(?:at|on)$/.test(field) ? 'never' : '–';
  return field.endsWith('_at') ? String(value).slice(0, 16).replace('T', ' ') : String(value);
};

const cellsOf = (object: object, fields: readonly string[]): string[] =>
  fields.map((field) => textOf(field, (object as Readonly<Record<string, unknown>>)[field]));

const bold = (heading: string): string => styleText('bold', heading, { validateStream: false });

const colored = (field: string, text: string): string => {
  const color = field === 'status' ? STATUS_COLORS[text] : undefined;
  return color === undefined ? text : styleText(color, text, { validateStream: false });
};

/** Aligns rows. If they are too wide, the widest column is wrapped to the width that is left, but not below `least`: then undefined. */
const aligned = (rows: readonly Row[], terminalWidth: number, least: number): string | undefined => {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => stringWidth(row[column] ?? ''))),
  );
  const widest = Math.max(...widths);
  const excess = widths.reduce((sum, width) => sum + width + GAP, -GAP) - terminalWidth;
  if (excess > 0 && widest - excess < least) return undefined;
  if (excess > 0) widths[widths.indexOf(widest)] = widest - excess;
  const columns = widths.map((width, column) => ({
    width,
    paddingRight: column === widths.length - 1 ? 0 : GAP,
  }));
  const text = terminalColumns(
    rows.map((row) => [...row]),
    { stdoutColumns: terminalWidth, columns },
  );
  return `${text.replace(/ +$/gm, '')}\n`;
};

const listOf = (object: object, fields: readonly string[], terminalWidth: number): string => {
  const rows = cellsOf(object, fields).map((text, index) => {
    const field = fields[index] ?? '';
    return [bold(headingOf(field)), colored(field, text)];
  });
  return rows.length === 0
    ? ''
    : (aligned(rows, terminalWidth, 1) ?? rows.map((row) => `${row.join(' ')}\n`).join(''));
};

/** Returns a table that fits: with fewer columns if some are optional, then with a wrapped one, else each row as a list. */
const tableOf = ({ items, rows, fields, optional = 0 }: Table, terminalWidth: number): string => {
  if (rows.length === 0) return `No ${items}.\n`;
  const cells = rows.map((row) =>
    cellsOf(row, fields).map((text, index) => colored(fields[index] ?? '', text)),
  );
  const all = [fields.map((field) => bold(headingOf(field))), ...cells];
  const counts = Array.from({ length: optional + 1 }, (_, left) => fields.length - left);
  for (const [count, least] of [...counts.map((each) => [each, Infinity]), [counts.at(-1), LEAST_WIDTH]]) {
    const text = aligned(
      all.map((row) => row.slice(0, count)),
      terminalWidth,
      Number(least),
    );
    if (text !== undefined) return text;
  }
  return rows.map((row) => listOf(row, fields, terminalWidth)).join('\n');
};

/** What a spreadsheet runs when it opens a file: a formula, also in full-width characters. Numbers and phones only begin like one. */
const FORMULA = /^["'\s]*(?:[=@]|[+-](?![\d.,]*$))/;

/** A cell on one line, quoted as RFC 4180 says. An apostrophe before a formula makes it text. */
const tsvCell = (value: unknown): string => {
  const text = (value === null || value === undefined ? '' : String(value)).replace(/\s+/g, ' ');
  const safe = FORMULA.test(text.normalize('NFKC')) ? `'${text}` : text;
  return safe.includes('"') ? `"${safe.replaceAll('"', '""')}"` : safe;
};

const asTsv = (rows: readonly (readonly unknown[])[]): string =>
  rows.map((row) => `${row.map(tsvCell).join('\t')}\n`).join('');

/** The values for a pipe: numbers and times as JSON has them. */
const valuesOf = (object: object, fields: readonly string[]): unknown[] =>
  fields
    .map((field) => (object as Readonly<Record<string, unknown>>)[field])
    .map((value) => (Array.isArray(value) ? value.join(' ') : value));

const renderBlock = (block: Block, columns: number | undefined): string => {
  if (typeof block === 'string') return block;
  if ('rows' in block) {
    const { rows, fields } = block;
    return columns === undefined
      ? asTsv([fields, ...rows.map((row) => valuesOf(row, fields))])
      : tableOf(block, columns);
  }
  const { item, fields = Object.keys(item) } = block;
  return columns === undefined
    ? asTsv(valuesOf(item, fields).map((value, index) => [fields[index], value]))
    : listOf(item, fields, columns);
};

/** Formats a result: aligned, and no wider than the terminal; tab-separated values in a pipe or file. Blocks are divided by a blank line. */
export const render = (result: Block | readonly Block[], { columns, hasColor }: Output): string => {
  const text = [result]
    .flat()
    .map((block) => renderBlock(block as Block, columns))
    .join('\n');
  return hasColor ? text : stripVTControlCharacters(text);
};
