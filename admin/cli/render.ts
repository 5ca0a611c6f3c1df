import { stripVTControlCharacters, styleText } from 'node:util';
import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';

type Cell = string | number;
type Row = readonly string[];

/** Rows under headings. */
export interface TextTable {
  readonly head: Row;
  readonly rows: readonly (readonly Cell[])[];
  /** What the rows are, in the plural. A terminal shows `No keys.` in place of a table without rows. */
  readonly items: string;
  /** How many of the last columns a narrow terminal leaves out. */
  readonly optional?: number;
}

/** The properties of one thing, one per line. */
export interface Properties {
  readonly properties: readonly (readonly [string, Cell])[];
}

/** A part of a result. A text ends with a newline. */
export type Block = string | TextTable | Properties;

/** Where a result is written: a terminal of this many columns, or a pipe or file, which has none. */
export interface Output {
  readonly columns: number | undefined;
  readonly hasColor: boolean;
}

const GAP = 2;

const STATUS_COLORS: Readonly<Record<string, 'green' | 'yellow' | 'red'>> = {
  active: 'green',
  pending: 'yellow',
  suspended: 'red',
  revoked: 'red',
  expired: 'red',
};

const bold = (heading: string): string => styleText('bold', heading, { validateStream: false });

/** Colors the value of a status. Returns every other value as text. */
const colored = (value: Cell, heading = ''): string => {
  const color = heading === 'status' ? STATUS_COLORS[value] : undefined;
  return color === undefined ? String(value) : styleText(color, String(value), { validateStream: false });
};

const widest = (texts: readonly string[]): number => Math.max(...texts.map((text) => stringWidth(text)));

/** Returns the texts of each column. */
const columnsOf = (rows: readonly Row[]): string[][] =>
  (rows[0] ?? []).map((_, column) => rows.map((row) => row[column] ?? ''));

/** Returns the widths of columns that fit a terminal without cutting a word; undefined if there are none. */
const fittingWidths = (rows: readonly Row[], terminalWidth: number): number[] | undefined => {
  const columns = columnsOf(rows);
  const widths = columns.map(widest);
  const longestWords = columns.map((texts) => widest(texts.flatMap((text) => text.split(' '))));
  const total = widths.reduce((sum, width) => sum + width + GAP, -GAP);
  for (let excess = total - terminalWidth; excess > 0; excess -= 1) {
    const wrappable = widths.map((width, column) => (width > (longestWords[column] ?? 0) ? width : 0));
    const width = Math.max(...wrappable);
    if (width === 0) return undefined;
    widths[wrappable.indexOf(width)] = width - 1;
  }
  return widths;
};

/** Aligns rows in columns of these widths. Wraps cells between words, and longer words anywhere. */
const aligned = (rows: readonly Row[], widths: readonly number[]): string => {
  const lines = rows.flatMap((row) => {
    const cells = widths.map((width, column) => {
      const parts = wrapAnsi(row[column] ?? '', width, { hard: true }).split('\n');
      return { parts, width };
    });
    const height = Math.max(...cells.map(({ parts }) => parts.length));
    return Array.from({ length: height }, (_, line) =>
      cells.map(
        ({ parts: { [line]: text = '' }, width }) => text + ' '.repeat(width + GAP - stringWidth(text)),
      ),
    );
  });
  return lines.map((line) => `${line.join('').trimEnd()}\n`).join('');
};

const renderProperties = (properties: Properties['properties'], terminalWidth: number): string => {
  const rows = properties.map(([name, value]) => [bold(name), colored(value, name)]);
  const [names = 0, values = 0] = columnsOf(rows).map(widest);
  return aligned(rows, [names, Math.max(1, Math.min(values, terminalWidth - names - GAP))]);
};

/** Returns a table that fits: with fewer columns if some are optional, else with each row as a list of its properties. */
const renderTable = ({ head, rows, items, optional = 0 }: TextTable, terminalWidth: number): string => {
  if (rows.length === 0) return `No ${items}.\n`;
  const cells = rows.map((row) => row.map((cell, column) => colored(cell, head[column])));
  for (let count = head.length; count >= head.length - optional; count -= 1) {
    const shown = [head.map(bold), ...cells].map((row) => row.slice(0, count));
    const widths = fittingWidths(shown, terminalWidth);
    if (widths !== undefined) return aligned(shown, widths);
  }
  return rows
    .map((row) => head.map((heading, column) => [heading, row[column] ?? ''] as const))
    .map((properties) => renderProperties(properties, terminalWidth))
    .join('\n');
};

/** What a spreadsheet runs when it opens a file: a formula. Numbers and phones only begin like one. */
const FORMULA = /^ ?(?:[=@]|[+-](?![\d.,]*$))/;

/** A cell on one line. An apostrophe before a formula makes it text. */
const tsvCell = (cell: Cell): string => {
  const text = String(cell).replace(/\s+/g, ' ');
  return FORMULA.test(text) ? `'${text}` : text;
};

/** Returns tab-separated values. */
const asTsv = (rows: readonly (readonly Cell[])[]): string =>
  rows.map((row) => `${row.map(tsvCell).join('\t')}\n`).join('');

const renderBlock = (block: Block, columns: number | undefined): string => {
  if (typeof block === 'string') return block;
  if ('properties' in block) {
    return columns === undefined ? asTsv(block.properties) : renderProperties(block.properties, columns);
  }
  return columns === undefined ? asTsv([block.head, ...block.rows]) : renderTable(block, columns);
};

/** Formats a result: aligned, and no wider than the terminal; tab-separated values in a pipe or file. Blocks are divided by a blank line. */
export const render = (result: Block | readonly Block[], { columns, hasColor }: Output): string => {
  const text = [result]
    .flat()
    .map((block) => renderBlock(block as Block, columns))
    .join('\n');
  return hasColor ? text : stripVTControlCharacters(text);
};
