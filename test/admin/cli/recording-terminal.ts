import { PassThrough } from 'node:stream';
import type { Terminal } from '#admin/cli/terminal.ts';

/** A terminal that keeps what is written to it. By default it is a pipe, and nobody answers. */
export const recordingTerminal = (options: Partial<Terminal> = {}) => {
  const written = { out: '', error: '' };
  const terminal: Terminal = {
    out: (text) => {
      written.out += text;
    },
    error: (text) => {
      written.error += text;
    },
    errorStream: new PassThrough(),
    output: { columns: undefined, hasColor: false },
    isInteractive: false,
    canRedraw: false,
    columns: 80,
    ask: async () => '',
    ...options,
  };
  return { terminal, written };
};
