import { run } from './admin/commands/program.ts';
import { processTerminal } from './admin/terminal.ts';

process.exitCode = await run(process.argv.slice(2), processTerminal());
