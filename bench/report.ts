/** The arithmetic of the benchmarks and the table that each of them prints. */

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

/** Prints the result of a benchmark as docs/performance.md shows it. */
export const report = (title: string, rows: readonly Row[]): void =>
  console.log(`${title}\n\n${markdownTable(rows)}`);

/** Returns the number of `--<name> <number>` on the command line; `otherwise` if it is not there. */
export const numberOption = (name: string, otherwise: number): number => {
  const index = process.argv.indexOf(`--${name}`);
  return index < 0 ? otherwise : Number(process.argv[index + 1]);
};
