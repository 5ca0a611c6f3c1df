import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The arithmetic and the output that the benchmarks share. */

/** Returns the value below which `share` (0–1) of the values lie. NaN for no values. */
export const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(share * (values.length - 1))] ?? Number.NaN;

/** Returns the median. */
export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** Returns a ratio with two decimals; a dash if there is nothing to divide by. */
export const ratio = (value: number, base: number): string => (base > 0 ? (value / base).toFixed(2) : '–');

/** Returns a number with `digits` decimals and commas between thousands. */
export const figure = (value: number, digits = 0): string =>
  value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });

/** Calls each subject `rounds` times, in turns, so that other load on the machine affects all of them alike. */
export const interleave = async <Subject>(
  subjects: readonly Subject[],
  rounds: number,
  run: (subject: Subject) => Promise<void>,
): Promise<void> => {
  for (let round = 0; round < rounds; round += 1) {
    for (const subject of subjects) await run(subject);
  }
};

/** Returns rows, the head first, as a Markdown table with aligned columns. The first column is text, the others are numbers. */
export const markdownTable = (rows: readonly (readonly string[])[]): string => {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(3, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const lines = rows.map(
    (row) =>
      `| ${widths.map((width, column) => (column === 0 ? (row[column] ?? '').padEnd(width) : (row[column] ?? '').padStart(width))).join(' | ')} |`,
  );
  const rule = `|${widths.map((width, column) => (column === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  return [lines[0], rule, ...lines.slice(1)].join('\n');
};

/** Replaces the block `<!-- bench:<name> -->` of a text by `content`. Throws if the text has no such block. */
export const replaceBlock = (text: string, name: string, content: string): string => {
  const [start, end] = [`<!-- bench:${name} -->`, `<!-- /bench:${name} -->`];
  const [from, to] = [text.indexOf(start), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`docs/performance.md has no block ${start} … ${end}`);
  return `${text.slice(0, from + start.length)}\n${content}\n${text.slice(to)}`;
};

const PAGE = fileURLToPath(new URL('../../docs/performance.md', import.meta.url));

/** Prints the result of a benchmark. With `--write` on the command line, docs/performance.md then shows it too. */
export const report = (name: string, title: string, ...tables: (readonly (readonly string[])[])[]): void => {
  const text = [title, ...tables.map(markdownTable)].join('\n\n');
  console.log(text);
  if (process.argv.includes('--write')) {
    writeFileSync(PAGE, replaceBlock(readFileSync(PAGE, 'utf8'), name, `\n${text}\n`));
  }
};

/** Returns the value of `--<name> <value>` on the command line, or the default. */
export const option = <Default extends string | number | undefined>(
  name: string,
  byDefault: Default,
): Default | (Default extends number ? number : string) => {
  const index = process.argv.indexOf(`--${name}`);
  const value = index < 0 ? undefined : process.argv[index + 1];
  if (value === undefined) return byDefault;
  return (typeof byDefault === 'number' ? Number(value) : value) as Default;
};
