import { run } from '#bin/admin/run.ts';
import type { Ended } from './cli-process.ts';

/** Runs a command in this process, without a terminal and with an empty stdin. */
export const runCommand = async (args: readonly string[]): Promise<Ended> => {
  let out = '';
  let error = '';
  const exitCode = await run(args, {
    out: (text) => {
      out += text;
    },
    error: (text) => {
      error += text;
    },
    isInteractive: false,
    canRedraw: false,
    columns: 80,
    ask: async () => '',
  });
  return { exitCode, out, error };
};
