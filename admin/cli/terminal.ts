import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { styleText } from 'node:util';
import { type Refusal, refusal } from '#admin/refusal.ts';
import type { Output } from './render.ts';

/** The input and output of the CLI. A test passes its own. */
export interface Terminal {
  /** Writes the result to stdout, which contains nothing else, so that it can be piped. */
  out(text: string): void;
  /** How stdout shows a result. */
  readonly output: Output;
  /** Writes warnings, progress, errors and questions to stderr. */
  error(text: string): void;
  /** Stderr, for a progress bar. */
  readonly errorStream: NodeJS.WritableStream;
  /** Whether a person can answer a question. */
  readonly isInteractive: boolean;
  /** Whether a line on stderr can be overwritten. */
  readonly canRedraw: boolean;
  /** The width of stderr. */
  readonly columns: number;
  /** Asks a question on stderr and returns the next line of stdin. Throws `interrupted` after Ctrl-C or Ctrl-D, `bad_input` if stdin ends first. */
  ask(question: string): Promise<string>;
}

const DEFAULT_COLUMNS = 80;

/** Returns the next line of stdin; undefined if there is none. Ctrl-C rejects a question, Ctrl-D closes it. */
const nextLine = async (
  question: string,
  shownOn: { output: Writable; terminal?: boolean } = { output: process.stderr },
): Promise<string | undefined> => {
  const prompt = createInterface({ input: process.stdin, ...shownOn });
  const ended = new Promise<undefined>((resolve) => prompt.once('close', () => resolve(undefined)));
  try {
    return await Promise.race([prompt.question(question), ended]);
  } catch {
    return undefined;
  } finally {
    prompt.close();
  }
};

const interrupted = (): Refusal => refusal('interrupted', 'Nothing was changed.');

/** Asks on stderr and returns the next line of the terminal, which is not shown. Throws `interrupted` after Ctrl-C or Ctrl-D. */
export const askHidden = async (question: string): Promise<string> => {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const line = nextLine('', { output: nowhere, terminal: true });
  // Only now: from here on the terminal does not echo.
  process.stderr.write(question);
  const answer = await line;
  process.stderr.write('\n');
  if (answer === undefined) throw interrupted();
  return answer.trim();
};

const withColor = (text: string): string =>
  text.replace(/^(error|warning):/gm, (label) =>
    styleText(label === 'error:' ? 'red' : 'yellow', label, { stream: process.stderr }),
  );

/** The terminal of this process. */
export const processTerminal = (): Terminal => {
  const isInteractive = process.stdin.isTTY === true && process.stderr.isTTY === true;
  return {
    out: (text) => void process.stdout.write(text),
    output: {
      columns: process.stdout.isTTY === true ? process.stdout.columns || DEFAULT_COLUMNS : undefined,
      hasColor: process.stdout.isTTY === true && process.stdout.hasColors(),
    },
    error: (text) => void process.stderr.write(withColor(text)),
    errorStream: process.stderr,
    isInteractive,
    canRedraw: process.stderr.isTTY === true,
    columns: process.stderr.columns || DEFAULT_COLUMNS,
    async ask(question) {
      const answer = await nextLine(question);
      if (answer !== undefined) return answer;
      if (!isInteractive) throw refusal('bad_input', 'Stdin has no more lines. Nothing was changed.');
      process.stderr.write('\n');
      throw interrupted();
    },
  };
};

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
