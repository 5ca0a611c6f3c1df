import { failureOf } from '#bin/admin/errors.ts';
import type { Check } from './check.ts';
import { CheckFailed } from './check-failed.ts';

/** Runs checks one after the other and prints a line for each. */
export interface Report {
  run(checks: readonly Check[]): Promise<void>;
  /** Prints a failure that is no check's. */
  fail(title: string, found: string): void;
  /** Prints the counts. Returns whether every check passed and none was left out by Ctrl-C. */
  summary(): boolean;
}

interface Options {
  readonly isEmulator: boolean;
  /** Aborted by Ctrl-C: the rest of the checks is left out. */
  readonly signal: AbortSignal;
}

/** Fits the longest title, and a terminal of 80 columns. */
const TITLE_WIDTH = 62;

const lineOf = (mark: string, title: string, durationMs?: number): string =>
  `${mark.padEnd(5)} ${title.padEnd(TITLE_WIDTH)}${durationMs === undefined ? '' : `${Math.round(durationMs)} ms`.padStart(10)}`.trimEnd();

const reasonOf = (error: unknown): string =>
  error instanceof CheckFailed ? error.message : failureOf(error).message;

/** Returns a report that prints to a terminal of 80 columns. */
export const report = (print: (line: string) => void, { isEmulator, signal }: Options): Report => {
  const startedAtMs = performance.now();
  const counts = { passed: 0, failed: 0, skipped: 0 };

  const fail: Report['fail'] = (title, found) => {
    counts.failed += 1;
    print(lineOf('FAIL', title));
    print(`      ${found}`);
  };

  const runOne = async ({ title, needsGateway = false, run }: Check): Promise<void> => {
    if (isEmulator && needsGateway) {
      counts.skipped += 1;
      print(lineOf('skip', title));
      return;
    }
    const checkedAtMs = performance.now();
    try {
      await run();
      counts.passed += 1;
      print(lineOf('ok', title, performance.now() - checkedAtMs));
    } catch (error) {
      if (!signal.aborted) fail(title, reasonOf(error));
    }
  };

  return {
    fail,
    async run(checks) {
      for (const check of checks) if (!signal.aborted) await runOne(check);
    },
    summary() {
      const { passed, failed, skipped } = counts;
      const seconds = Math.round((performance.now() - startedAtMs) / 1000);
      const ending = signal.aborted ? 'interrupted' : `in ${seconds} s`;
      print(`${passed} passed, ${failed} failed, ${skipped} skipped, ${ending}.`);
      return failed === 0 && !signal.aborted;
    },
  };
};
