import { Writable } from 'node:stream';
import type { Terminal } from '#admin/cli/terminal.ts';

/** A terminal that keeps what is written to it. By default it is a pipe, and nobody answers. */
export const recordingTerminal = (options: Partial<Terminal> = {}) => {
  const written = { out: '', error: '' };
  const terminal: Terminal = {
    out: (text) => {
      written.out += text;
    },
    error: (sentence) => {
      written.error += `${sentence}\n`;
    },
    errorStream: new Writable({
      write(chunk, _encoding, done) {
        written.error += chunk;
        done();
      },
    }),
    columns: undefined,
    isInteractive: false,
    ask: async () => '',
    ...options,
  };
  return { terminal, written };
};
