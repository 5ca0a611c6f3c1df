const BAR_WIDTH = 40;
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

const bar = (value: number, largest: number): string => {
  const eighths = largest === 0 ? 0 : Math.round((value / largest) * BAR_WIDTH * 8);
  return '█'.repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? '');
};

/** A line a value, each as long as its share of the largest. */
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
