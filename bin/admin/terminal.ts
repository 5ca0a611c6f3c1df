import { createInterface } from 'node:readline/promises';

/** Where the CLI reads and writes. A test gives one of its own. */
export interface Terminal {
  /** What was asked for: the answer alone, so that it can be piped on. */
  out(text: string): void;
  /** Everything else: warnings, progress, errors, questions. */
  error(text: string): void;
  /** Whether a person sits there to answer a question. */
  readonly isInteractive: boolean;
  /** Whether what goes to `error` may be overwritten in place. */
  readonly canRedraw: boolean;
  readonly columns: number;
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
    try {
      return await prompt.question(question);
    } finally {
      prompt.close();
    }
  },
});
