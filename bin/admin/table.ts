import CliTable from 'cli-table3';

/** No colors: output is often pasted into tickets and chats. */
const STYLE = { head: [], border: [], compact: true };

/** Formats rows under headings. */
export const tableOf = (head: readonly string[], rows: readonly (readonly (string | number)[])[]): string => {
  const table = new CliTable({ head: [...head], style: STYLE });
  table.push(...rows.map((row) => row.map(String)));
  return `${table.toString()}\n`;
};

/** Formats the properties of one thing, one per line. */
export const propertiesOf = (properties: readonly (readonly [string, string | number])[]): string => {
  const table = new CliTable({ style: STYLE });
  table.push(...properties.map(([name, value]) => [name, String(value)]));
  return `${table.toString()}\n`;
};

const BAR_WIDTH = 40;
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

const bar = (value: number, largest: number): string => {
  const eighths = largest === 0 ? 0 : Math.round((value / largest) * BAR_WIDTH * 8);
  return '█'.repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? '');
};

/** Formats values as horizontal bars, one per line, in proportion to the largest. */
export const barChart = (values: readonly (readonly [string, number])[]): string => {
  const largest = Math.max(0, ...values.map(([, value]) => value));
  const width = Math.max(0, ...values.map(([, value]) => value.toLocaleString('en').length));
  return values
    .map(([name, value]) =>
      `${name}  ${value.toLocaleString('en').padStart(width)}  ${bar(value, largest)}`.trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('');
};
