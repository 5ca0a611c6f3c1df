import { failureOf } from '#bin/admin/errors.ts';
import { CheckFailed } from './call.ts';

interface Options {
  readonly isEmulator: boolean;
  /** Aborted by Ctrl-C: the rest of the checks is left out. */
  readonly signal: AbortSignal;
}

/** Fits the longest title, and a terminal of 80 columns. */
const TITLE_WIDTH = 62;

const lineOf = (mark: string, title: string, result = ''): string =>
  `${mark.padEnd(5)} ${title.padEnd(TITLE_WIDTH)}${result.padStart(10)}`.trimEnd();

/** Returns a report that prints a line for each check to a terminal of 80 columns. */
export const report = (print: (line: string) => void, { isEmulator, signal }: Options) => {
  const startedAtMs = performance.now();
  const counts = { passed: 0, failed: 0, skipped: 0 };

  /** Prints a failure that may be no check's. */
  const fail = (title: string, error: unknown): void => {
    counts.failed += 1;
    print(lineOf('FAIL', title));
    print(`      ${error instanceof CheckFailed ? error.message : failureOf(error).message}`);
  };

  return {
    fail,

    /** Runs one check, which throws CheckFailed if the service does not respond as it should. */
    async check(title: string, run: () => Promise<void>, { needsGateway = false } = {}): Promise<void> {
      if (signal.aborted) return;
      if (isEmulator && needsGateway) {
        counts.skipped += 1;
        return print(lineOf('skip', title));
      }
      const checkedAtMs = performance.now();
      try {
        await run();
        counts.passed += 1;
        print(lineOf('ok', title, `${Math.round(performance.now() - checkedAtMs)} ms`));
      } catch (error) {
        if (!signal.aborted) fail(title, error);
      }
    },

    /** Prints the counts. Returns whether every check passed and none was left out by Ctrl-C. */
    summary(): boolean {
      const { passed, failed, skipped } = counts;
      const seconds = Math.round((performance.now() - startedAtMs) / 1000);
      const ending = signal.aborted ? 'interrupted' : `in ${seconds} s`;
      print(`${passed} passed, ${failed} failed, ${skipped} skipped, ${ending}.`);
      return failed === 0 && !signal.aborted;
    },
  };
};

export type Report = ReturnType<typeof report>;
export type Check = Report['check'];
