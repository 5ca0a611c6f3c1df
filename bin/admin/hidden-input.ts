import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { refusal } from '#admin/operations/refusal.ts';

/** Asks on stderr and returns the next line of the terminal, which is not shown. Throws `interrupted` after Ctrl-C or Ctrl-D. */
export const askHidden = async (question: string): Promise<string> => {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const prompt = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  const ended = new Promise<undefined>((resolve) => prompt.once('close', () => resolve(undefined)));
  // Only now: from here on the terminal does not echo.
  process.stderr.write(question);
  try {
    const answer = await Promise.race([prompt.question(''), ended]);
    if (answer !== undefined) return answer.trim();
  } catch {
    // Ctrl-C rejects the question.
  } finally {
    prompt.close();
    process.stderr.write('\n');
  }
  throw refusal('interrupted', 'Nothing was changed.');
};
