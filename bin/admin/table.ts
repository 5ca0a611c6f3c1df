import CliTable from 'cli-table3';

/** No colours: what a person reads is often pasted somewhere. */
const STYLE = { head: [], border: [], compact: true };

/** Rows under headings, for people. */
export const tableOf = (head: readonly string[], rows: readonly (readonly (string | number)[])[]): string => {
  const table = new CliTable({ head: [...head], style: STYLE });
  table.push(...rows.map((row) => row.map(String)));
  return `${table.toString()}\n`;
};

/** One thing, a line a property. */
export const propertiesOf = (properties: readonly (readonly [string, string | number])[]): string => {
  const table = new CliTable({ style: STYLE });
  table.push(...properties.map(([name, value]) => [name, String(value)]));
  return `${table.toString()}\n`;
};
