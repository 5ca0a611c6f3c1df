import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The arithmetic and the output that the benchmarks share. */

/** Returns the median, of an even number of values the lower one in the middle. NaN for no values. */
export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? Number.NaN;

/** Returns a ratio with two decimals; a dash if there is nothing to divide by. */
export const ratio = (value: number, base: number): string => (base > 0 ? (value / base).toFixed(2) : '–');

/** Returns a number with `digits` decimals and commas between thousands. */
export const figure = (value: number, digits = 0): string =>
  value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });

/**
 * Calls `run` for each subject `rounds` times, in turns, so that other load on the machine affects all of them alike. Returns the results
 * by subject.
 */
export const interleave = async <Subject, Result>(
  subjects: readonly Subject[],
  rounds: number,
  run: (subject: Subject) => Promise<Result>,
): Promise<Map<Subject, Result[]>> => {
  const results = new Map(subjects.map((subject) => [subject, [] as Result[]]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [subject, own] of results) own.push(await run(subject));
  }
  return results;
};

/** A row of a table: text first, then numbers. */
type Row = readonly string[];

/** Returns rows, the head first, as a Markdown table with aligned columns. */
export const markdownTable = (rows: readonly Row[]): string => {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(3, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const rules = widths.map((width, column) =>
    column === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`,
  );
  const [head, ...lines] = rows.map(([title = '', ...numbers]) => {
    const cells = numbers.map((number, index) => number.padStart(widths[index + 1] ?? 0));
    return `| ${[title.padEnd(widths[0] ?? 0), ...cells].join(' | ')} |`;
  });
  return [head, `|${rules.join('|')}|`, ...lines].join('\n');
};

/** Replaces the block `<!-- bench:<name> -->` of a text by `content`. Throws if the text has no such block. */
export const replaceBlock = (text: string, name: string, content: string): string => {
  const [start, end] = [`<!-- bench:${name} -->`, `<!-- /bench:${name} -->`];
  const [from, to] = [text.indexOf(start), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`The page has no block ${start} … ${end}`);
  return `${text.slice(0, from + start.length)}\n${content}\n${text.slice(to)}`;
};

/** Prints the result of a benchmark. With `--write` on the command line, docs/performance.md then shows it too. */
export const report = (name: string, title: string, table: readonly Row[]): void => {
  const text = `${title}\n\n${markdownTable(table)}`;
  console.log(text);
  if (process.argv.includes('--write')) {
    const file = fileURLToPath(new URL('../../docs/performance.md', import.meta.url));
    writeFileSync(file, replaceBlock(readFileSync(file, 'utf8'), name, `\n${text}\n`));
  }
};

/** Returns the value of `--<name> <value>` on the command line; undefined if it is not there. */
export const option = (name: string): string | undefined => {
  const index = process.argv.indexOf(`--${name}`);
  return index < 0 ? undefined : process.argv[index + 1];
};
