import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { SingleBar } from 'cli-progress';
import wrapAnsi from 'wrap-ansi';
import { type Refusal, refusal } from '#admin/refusal.ts';

/** The input and output of the CLI. A test passes its own. */
export interface Terminal {
  /** Writes the result to stdout, which contains nothing else, so that it can be piped. */
  out(text: string): void;
  /** The width of stdout; undefined for a pipe or file. */
  readonly columns: number | undefined;
  /** Writes a sentence to stderr: a note, warning or error. A terminal wraps it between words. */
  error(sentence: string): void;
  /** Stderr, for a progress bar and help. */
  readonly errorStream: NodeJS.WritableStream;
  /** Whether a person can answer a question. */
  readonly isInteractive: boolean;
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

/** The terminal of this process. */
export const processTerminal = (): Terminal => {
  const { stdin, stdout, stderr } = process;
  const isInteractive = stdin.isTTY && stderr.isTTY;
  return {
    out: (text) => void stdout.write(text),
    columns: stdout.isTTY ? stdout.columns || DEFAULT_COLUMNS : undefined,
    error: (sentence) =>
      void stderr.write(
        `${stderr.isTTY ? wrapAnsi(sentence, stderr.columns || DEFAULT_COLUMNS) : sentence}\n`,
      ),
    errorStream: stderr,
    isInteractive,
    async ask(question) {
      const answer = await nextLine(question);
      if (answer !== undefined) return answer;
      if (!isInteractive) throw refusal('bad_input', 'Stdin has no more lines. Nothing was changed.');
      stderr.write('\n');
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

/** What long work gets: a signal that Ctrl-C or SIGTERM aborts, and a function that shows how many of its items are done. */
interface Progress {
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, total: number) => void;
}

/** Runs long work, with its progress on stderr if that is a terminal. */
export const withProgress = async <T>(
  { errorStream: stream }: Pick<Terminal, 'errorStream'>,
  items: string,
  work: (progress: Progress) => Promise<T>,
): Promise<T> => {
  const format = `{bar} {percentage} %  {value} of {total} ${items}  {eta_formatted}`;
  // Ctrl-C ends the work after its step: abortOnInterrupt.
  const look = { barsize: 24, barCompleteChar: '#', barIncompleteChar: '.', gracefulExit: false };
  const bar = new SingleBar({ stream, format, ...look });
  const { signal, restore } = abortOnInterrupt();
  bar.start(0, 0);
  const onProgress = (done: number, total: number): void => {
    bar.setTotal(total);
    bar.update(done);
  };
  try {
    return await work({ signal, onProgress });
  } finally {
    bar.stop();
    restore();
  }
};
