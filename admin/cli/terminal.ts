import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import wrapAnsi from 'wrap-ansi';
import { AdminError } from '#admin/admin-error.ts';
import { escapedLines } from './escaped.ts';

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

/** A terminal on which no stored text can act. */
export const escaping = (terminal: Terminal): Terminal => ({
  ...terminal,
  out: (text) => terminal.out(escapedLines(text)),
  error: (sentence) => terminal.error(escapedLines(sentence)),
  ask: (question) => terminal.ask(escapedLines(question)),
});

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

const interrupted = (): AdminError => new AdminError('interrupted', 'Nothing was changed.');

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
      if (!isInteractive) throw new AdminError('bad_input', 'Stdin has no more lines. Nothing was changed.');
      stderr.write('\n');
      throw interrupted();
    },
  };
};
