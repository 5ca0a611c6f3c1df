import { run } from '#admin/cli/commands/program.ts';
import { processTerminal } from '#admin/cli/terminal.ts';
import { deployments } from './deployments.ts';

// A reader such as `head` may close the pipe early. The command still does its work.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

process.exitCode = await run(process.argv.slice(2), processTerminal(), deployments);
