import { Command, CommanderError } from 'commander';
import { type AddCommands, action } from './command.ts';
import { addAuditCommand } from './commands/audit.ts';
import { addBuyerCommands } from './commands/buyers.ts';
import { addKeyCommands } from './commands/keys.ts';
import { addReconcileCommand } from './commands/reconcile.ts';
import { addSellerCommands } from './commands/sellers.ts';
import { addUsageCommand } from './commands/usage.ts';
import { failureOf } from './errors.ts';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

const COMMANDS: readonly AddCommands[] = [
  addSellerCommands,
  addKeyCommands,
  addUsageCommand,
  addBuyerCommands,
  addReconcileCommand,
  addAuditCommand,
];

const EXIT_CODES = `
Exit codes: 0 done; 1 refused, not found, or differences were found; 2 the command was given wrongly.`;

const EXAMPLES = `
Examples:
  $ npm run admin -- sellers create "Kaveh Books"
  $ npm run admin -- keys issue sel_… --plan free --scopes users:read,users:write --expires 90d
  $ npm run admin -- --stage prod keys list sel_… --json
${EXIT_CODES}`;

/** The program. Global options may stand before or after a command. */
const programFor = (terminal: Terminal, ended: (exitCode: number) => void): Command => {
  const program = new Command('npm run admin --')
    .description('Sellers, keys, plans and buyers of a deployment.')
    .option('--local', 'the service that npm start runs (the default while it runs)')
    .option('--stage <name>', 'a stage in AWS, with your own AWS credentials')
    .option('--profile <name>', 'the AWS profile')
    .option('--region <name>', 'the AWS Region')
    .option('--data <folder>', 'the data folder of the local service (default: .local)')
    .option('--json', 'answer in JSON, for scripts')
    .option('--yes', 'do not ask before what cannot be taken back')
    .addHelpText('after', EXAMPLES);
  for (const add of COMMANDS) add(program, (work) => action(terminal, ended, work));
  return prepared(program, terminal);
};

/** Commander ends the process and writes by itself unless each command is told not to. */
const prepared = (command: Command, terminal: Terminal): Command => {
  command
    .exitOverride()
    .showHelpAfterError('Try --help.')
    .configureOutput({ writeOut: terminal.out, writeErr: terminal.error });
  for (const child of command.commands) prepared(child, terminal);
  return command;
};

const isAsked = ({ code }: CommanderError): boolean =>
  code === 'commander.helpDisplayed' || code === 'commander.version';

/** Runs one command line and resolves with its exit code. It never throws and never shows a stack trace. */
export const run = async (args: readonly string[], terminal: Terminal): Promise<number> => {
  let exitCode = 0;
  try {
    await programFor(terminal, (code) => {
      exitCode = code;
    }).parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return isAsked(error) ? 0 : 2;
    if (error instanceof UsageError) {
      terminal.error(`error: ${error.message}\n`);
      return 2;
    }
    const failure = failureOf(error);
    terminal.error(
      args.includes('--json') ? `${JSON.stringify({ error: failure })}\n` : `error: ${failure.message}\n`,
    );
    return 1;
  }
};
