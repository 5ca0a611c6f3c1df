import { failureOf } from '#admin/cli/errors.ts';
import { CheckFailed } from './call.ts';

interface Options {
  readonly isEmulator: boolean;
  /** Aborted by Ctrl-C: the rest of the checks is left out. */
  readonly signal: AbortSignal;
  /** Whether the calls of each check are printed. */
  readonly hasSteps: boolean;
}

/** Fits the longest title, and a terminal of 80 columns. */
const TITLE_WIDTH = 62;

const lineOf = (mark: string, title: string, result = ''): string =>
  `${mark.padEnd(5)} ${title.padEnd(TITLE_WIDTH)}${result.padStart(10)}`.trimEnd();

/** Returns a report that prints one line for each check, of at most 80 columns, and below it the calls of the check if wanted. */
export const report = (print: (line: string) => void, { isEmulator, signal, hasSteps }: Options) => {
  const startedAtMs = performance.now();
  const steps: string[] = [];
  const counts = { passed: 0, failed: 0, skipped: 0 };

  const printSteps = (): void => {
    for (const step of steps.splice(0)) if (hasSteps) print(`      ${step}`);
  };

  /** Prints the failure of a check, or of something outside the checks. */
  const fail = (title: string, error: unknown): void => {
    counts.failed += 1;
    print(lineOf('FAIL', title));
    printSteps();
    print(`      ${error instanceof CheckFailed ? error.message : failureOf(error).message}`);
  };

  return {
    fail,

    /** Keeps a call of the present check, until its result is printed. */
    addStep: (step: string): void => void steps.push(step),

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
        printSteps();
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
