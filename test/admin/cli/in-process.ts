import { run } from '#admin/cli/commands/program.ts';
import { deployments } from '#bin/deployments.ts';
import type { Ended } from './cli-process.ts';
import { recordingTerminal } from './recording-terminal.ts';

/** Runs a command in this process, without a terminal and with an empty stdin. */
export const runCommand = async (args: readonly string[]): Promise<Ended> => {
  const { terminal, written } = recordingTerminal();
  return { exitCode: await run(args, terminal, deployments), ...written };
};
