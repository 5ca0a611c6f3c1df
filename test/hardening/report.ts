/** Counts what was tried and keeps what was violated, by attack or fault. */
export interface Report {
  tried(check: string, times?: number): void;
  violated(check: string, detail: string): void;
  /** Counts a try, and a violation if the condition does not hold. */
  expect(check: string, holds: boolean, detail: () => string): void;
  /** Counts a planned operation of a kind, and whether it reached its rule: a response that the model can check. */
  operation(kind: string, hasReachedRule: boolean): void;
}

interface Row {
  tries: number;
  readonly violations: string[];
}

interface Operations {
  planned: number;
  reached: number;
}

/** The least share of the planned operations of a kind that must reach their rule. With fewer the campaign has tried too little. */
const LEAST_REACHED = 0.9;

/** The most violations of a check that are printed in full. */
const SHOWN = 5;

export const newReport = () => {
  const rows = new Map<string, Row>();
  const rowOf = (check: string): Row => {
    const row = rows.get(check) ?? { tries: 0, violations: [] };
    rows.set(check, row);
    return row;
  };
  const operations = new Map<string, Operations>();
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
    operation(kind, hasReachedRule) {
      const counted = operations.get(kind) ?? { planned: 0, reached: 0 };
      operations.set(kind, counted);
      counted.planned += 1;
      if (hasReachedRule) counted.reached += 1;
    },
  };
  return {
    report,
    /** Fails the kinds of operations of which too few reached their rule. Returns the counts of all, a line each. */
    checkOperations: (): string =>
      [...operations]
        .map(([kind, { planned, reached }]) => {
          const text = `${reached} of ${planned} operations reached their rule`;
          report.expect(
            `operations reach their rule: ${kind}`,
            reached >= LEAST_REACHED * planned,
            () => text,
          );
          return `${kind}: ${text} (${Math.floor((100 * reached) / planned)} %)`;
        })
        .join('\n'),
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
