import { Readable } from 'node:stream';
import { mock } from 'node:test';
import { run } from '#admin/cli/commands/program.ts';
import { deployments } from '#bin/deployments.ts';
import type { Ended } from './cli-process.ts';
import { recordingTerminal } from './recording-terminal.ts';

/** Runs a command in this process, without a terminal and with an empty stdin. */
export const runCommand = async (args: readonly string[]): Promise<Ended> => {
  const { terminal, written } = recordingTerminal();
  return { exitCode: await run(args, terminal, deployments), ...written };
};

/** Runs a command in this process with a text as stdin, one at a time. */
export const runWithInput = async (args: readonly string[], input: string): Promise<Ended> => {
  const stdin = mock.getter(process, 'stdin', () => Readable.from([input]) as typeof process.stdin);
  try {
    return await runCommand(args);
  } finally {
    stdin.mock.restore();
  }
};
