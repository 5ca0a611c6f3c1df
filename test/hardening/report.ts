/** Counts what was tried and keeps what was violated, by attack or fault. */
export interface Report {
  tried(check: string, times?: number): void;
  violated(check: string, detail: string): void;
  /** Counts a try, and a violation if the condition does not hold. */
  expect(check: string, holds: boolean, detail: () => string): void;
}

interface Row {
  tries: number;
  readonly violations: string[];
}

/** The most violations of a check that are printed in full. */
const SHOWN = 5;

export const newReport = () => {
  const rows = new Map<string, Row>();
  const rowOf = (check: string): Row => {
    const row = rows.get(check) ?? { tries: 0, violations: [] };
    rows.set(check, row);
    return row;
  };
  const report: Report = {
    tried(check, times = 1) {
      rowOf(check).tries += times;
    },
    violated(check, detail) {
      rowOf(check).violations.push(detail);
    },
    expect(check, holds, detail) {
      rowOf(check).tries += 1;
      if (!holds) rowOf(check).violations.push(detail());
    },
  };
  return {
    report,
    violations: (): number => [...rows.values()].reduce((total, row) => total + row.violations.length, 0),
    /** The checks with and without violations, named as in a Jest report. */
    counts: () => {
      const failed = [...rows.values()].filter((row) => row.violations.length > 0).length;
      return { numPassedTests: rows.size - failed, numFailedTests: failed };
    },
    /** The table of attack or fault, tries and violations, as Markdown. */
    table: (): string =>
      [
        '| attack or fault | tries | violations |',
        '|---|---:|---:|',
        ...[...rows].map(
          ([check, { tries, violations }]) => `| ${check} | ${tries} | ${violations.length} |`,
        ),
      ].join('\n'),
    details: (): string =>
      [...rows]
        .flatMap(([check, { violations }]) =>
          violations.slice(0, SHOWN).map((detail) => `VIOLATION ${check}: ${detail}`),
        )
        .join('\n'),
  };
};
