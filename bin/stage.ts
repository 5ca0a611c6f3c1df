import './require-node.mjs';
import { processTerminal } from './admin/terminal.ts';
import { runCdk } from './stage/cdk.ts';
import { run } from './stage/run.ts';

/** `npm run synth`, `npm run diff` and `npm run deploy`: the first argument is the command. */
process.exitCode = await run(process.argv.slice(2), { terminal: processTerminal(), cdk: runCdk });
