import { createInterface } from 'node:readline/promises';
import { refusal } from '#admin/operations/refusal.ts';

/** The input and output of the CLI. A test passes its own. */
export interface Terminal {
  /** Writes the result to stdout, which contains nothing else, so that it can be piped. */
  out(text: string): void;
  /** Writes warnings, progress, errors and questions to stderr. */
  error(text: string): void;
  /** Whether a person can answer a question. */
  readonly isInteractive: boolean;
  /** Whether a line on stderr can be overwritten. */
  readonly canRedraw: boolean;
  readonly columns: number;
  /** Asks a question on stderr and returns the next line of stdin. Throws `interrupted` if stdin ends first. */
  ask(question: string): Promise<string>;
}

const DEFAULT_COLUMNS = 80;

/** The terminal of this process. */
export const processTerminal = (): Terminal => ({
  out: (text) => void process.stdout.write(text),
  error: (text) => void process.stderr.write(text),
  isInteractive: process.stdin.isTTY === true && process.stderr.isTTY === true,
  canRedraw: process.stderr.isTTY === true,
  columns: process.stderr.columns ?? DEFAULT_COLUMNS,
  async ask(question) {
    const prompt = createInterface({ input: process.stdin, output: process.stderr });
    const ended = new Promise<undefined>((resolve) => prompt.once('close', () => resolve(undefined)));
    try {
      const answer = await Promise.race([prompt.question(question), ended]);
      if (answer !== undefined) return answer;
    } catch {
      // Ctrl-C and Ctrl-D reject the question.
    } finally {
      prompt.close();
    }
    throw refusal('interrupted', 'Nothing was changed.');
  },
});

/** npm forwards a Ctrl-C that the terminal has sent to this process already. Both arrive within this time. */
const SAME_KEYSTROKE_MS = 500;

/**
 * Returns a signal that Ctrl-C or SIGTERM aborts, instead of ending the process; a second one ends it. `restore` removes the
 * handlers.
 */
export const abortOnInterrupt = (): { readonly signal: AbortSignal; restore(): void } => {
  const controller = new AbortController();
  let firstAtMs: number | undefined;
  const onSignal = (): void => {
    if (firstAtMs !== undefined && Date.now() - firstAtMs > SAME_KEYSTROKE_MS) process.exit(1);
    firstAtMs ??= Date.now();
    controller.abort();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return {
    signal: controller.signal,
    restore() {
      process.off('SIGINT', onSignal);
      process.off('SIGTERM', onSignal);
    },
  };
};
