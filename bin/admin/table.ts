import { styleText } from 'node:util';
import stringWidth from 'string-width';

type Cell = string | number;
type Row = readonly string[];

/** Rows under headings. */
export interface Table {
  readonly head: Row;
  readonly rows: readonly (readonly Cell[])[];
  /** How many of the last columns a narrow terminal leaves out. */
  readonly optional?: number;
}

/** The properties of one thing, one per line. */
export interface Properties {
  readonly properties: readonly (readonly [string, Cell])[];
}

/** Values by name, drawn as bars in proportion to the largest. A terminal shows no zeros. */
export interface Chart {
  readonly bars: readonly (readonly [string, number])[];
}

/** A part of a result. A text ends with a newline. */
export type Block = string | Table | Properties | Chart;

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

/** Adds color to a heading, and to the cell of a status. `heading`: of the cell; undefined if it is one itself. */
const styled = (text: string, heading: string | undefined): string => {
  const style = heading === undefined ? 'bold' : heading === 'status' ? STATUS_COLORS[text] : undefined;
  return style === undefined || text === '' ? text : styleText(style, text, { validateStream: false });
};

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

const totalWidth = (widths: readonly number[]): number => sum(widths) + GAP * (widths.length - 1);

/** The width of each column, by the widest of the parts into which `split` divides its cells. */
const widthsOf = (rows: readonly Row[], split: (cell: string) => string[]): number[] =>
  (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.flatMap((row) => split(row[column] ?? '').map((part) => stringWidth(part)))),
  );

/** Splits a text into lines of at most `width` columns, between words where it can. */
export const wrapped = (cell: string, width: number): string[] => {
  const lines = [''];
  for (const word of cell.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (stringWidth(`${line} ${word}`.trim()) <= width) lines[lines.length - 1] = `${line} ${word}`.trim();
    else {
      const pieces =
        stringWidth(word) <= width ? [word] : (word.match(new RegExp(`.{1,${width}}`, 'gu')) ?? []);
      lines.push(...pieces);
    }
  }
  return lines[0] === '' && lines.length > 1 ? lines.slice(1) : lines;
};

/** Narrows the widest columns that can still be narrowed until they fit; undefined if that is not possible. */
const fitted = (
  natural: readonly number[],
  least: readonly number[],
  columns: number,
): number[] | undefined => {
  const widths = [...natural];
  while (totalWidth(widths) > columns) {
    const slack = widths.map((width, column) => (width > (least[column] ?? 0) ? width : 0));
    const widest = slack.indexOf(Math.max(...slack));
    if (slack[widest] === 0) return undefined;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
};

/** Draws rows in columns of these widths. */
const drawn = (
  rows: readonly Row[],
  widths: readonly number[],
  style: (text: string, row: number, column: number) => string,
): string =>
  rows
    .flatMap((row, number) => {
      const cells = row.map((cell, column) => wrapped(cell, widths[column] ?? 0));
      const height = Math.max(...cells.map(({ length }) => length));
      return Array.from({ length: height }, (_, line) => {
        const padded = cells.map((lines, column) => {
          const text = lines[line] ?? '';
          const padding = (widths[column] ?? 0) - stringWidth(text) + GAP;
          // A word of wide characters that was cut can be wider than its column.
          return style(text, number, column) + ' '.repeat(Math.max(0, padding));
        });
        return padded.join('').trimEnd();
      });
    })
    .map((line) => `${line}\n`)
    .join('');

const drawProperties = (rows: readonly Row[], { columns = 0, hasColor }: Output): string => {
  const natural = widthsOf(rows, (cell) => [cell]);
  const name = natural[0] ?? 0;
  const value = Math.max(1, Math.min(natural[1] ?? 0, columns - name - GAP));
  return drawn(rows, [name, value], (text, row, column) =>
    hasColor ? styled(text, column === 0 ? undefined : rows[row]?.[0]) : text,
  );
};

/** Draws a table that fits: with fewer columns if some are optional, else each row as a list of its properties. */
const drawTable = (head: Row, body: readonly Row[], optional: number, output: Output): string => {
  const { columns = 0, hasColor } = output;
  const rows = [head, ...body];
  const natural = widthsOf(rows, (cell) => [cell]);
  const least = widthsOf(rows, (cell) => cell.split(' '));
  for (let count = head.length; count >= head.length - optional; count -= 1) {
    const widths = fitted(natural.slice(0, count), least.slice(0, count), columns);
    if (widths === undefined) continue;
    const shown = rows.map((row) => row.slice(0, count));
    return drawn(shown, widths, (text, row, column) =>
      hasColor ? styled(text, row === 0 ? undefined : head[column]) : text,
    );
  }
  return body
    .map((row) =>
      drawProperties(
        head.map((name, column) => [name, row[column] ?? '']),
        output,
      ),
    )
    .join('\n');
};

const MAX_BAR = 40;
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

const bar = (share: number, width: number): string => {
  const eighths = Math.round(share * width * 8);
  return '█'.repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? '');
};

const drawChart = (bars: Chart['bars'], columns = 0): string => {
  const shown = bars.filter(([, value]) => value > 0);
  const largest = Math.max(...shown.map(([, value]) => value));
  const names = Math.max(...shown.map(([name]) => name.length));
  const numbers = largest.toLocaleString('en').length;
  const width = Math.max(0, Math.min(MAX_BAR, columns - totalWidth([names, numbers, 0])));
  const lines = shown.map(([name, value]) => {
    const number = value.toLocaleString('en').padStart(numbers);
    return `${name.padEnd(names)}  ${number}  ${bar(value / largest, width)}`.trimEnd();
  });
  return lines.map((line) => `${line}\n`).join('');
};

const asText = (rows: readonly (readonly Cell[])[]): string[][] => rows.map((row) => row.map(String));

const asTsv = (rows: readonly (readonly Cell[])[]): string =>
  rows.map((row) => `${row.map((cell) => String(cell).replace(/\s+/g, ' ')).join('\t')}\n`).join('');

const rendered = (block: Block, output: Output): string => {
  if (typeof block === 'string') return block;
  const isPiped = output.columns === undefined;
  if ('bars' in block) return isPiped ? asTsv(block.bars) : drawChart(block.bars, output.columns);
  if ('properties' in block) {
    return isPiped ? asTsv(block.properties) : drawProperties(asText(block.properties), output);
  }
  const { head, rows, optional = 0 } = block;
  return isPiped ? asTsv([head, ...rows]) : drawTable(head, asText(rows), optional, output);
};

/** Formats a result: aligned, and no wider than the terminal; tab-separated values in a pipe or file. Blocks are divided by a blank line. */
export const render = (result: Block | readonly Block[], output: Output): string =>
  [result]
    .flat()
    .map((block) => rendered(block as Block, output))
    .join('\n');
