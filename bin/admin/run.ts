import { Command, CommanderError } from 'commander';
import { type AddCommands, action } from './command.ts';
import { addAuditCommand } from './commands/audit.ts';
import { addBuyerCommands } from './commands/buyers.ts';
import { addKeyCommands } from './commands/keys.ts';
import { addReconcileCommand } from './commands/reconcile.ts';
import { addSellerCommands } from './commands/sellers.ts';
import { addUsageCommand } from './commands/usage.ts';
import { addUserCommands } from './commands/users.ts';
import { failureOf, UsageError } from './errors.ts';
import type { Terminal } from './terminal.ts';

const COMMANDS: readonly AddCommands[] = [
  addSellerCommands,
  addKeyCommands,
  addUsageCommand,
  addBuyerCommands,
  addUserCommands,
  addReconcileCommand,
  addAuditCommand,
];

const EXIT_CODES = `
Exit codes: 0 done; 1 refused, not found, or reconcile left a difference; 2 wrong command line.`;

const EXAMPLES = `
Examples:
  $ npm run admin -- sellers create "Kaveh Books"
  $ npm run admin -- keys issue sel_… --plan free --scopes users:read,users:write --expires 90d
  $ npm run admin -- --stage prod keys list sel_… --json
${EXIT_CODES}`;

/** Returns the program with all commands. Global options are accepted before and after a command. */
export const programFor = (terminal: Terminal, ended: (exitCode: number) => void): Command => {
  const program = new Command('npm run admin --')
    .description('Manage the sellers, keys, plans, buyers and users of a deployment.')
    .option('--local', 'the local service of npm start (the default)')
    .option('--stage <name>', 'a stage in AWS, with your AWS credentials')
    .option('--profile <name>', 'the AWS profile')
    .option('--region <name>', 'the AWS Region')
    .option('--data <folder>', 'the data folder of the local service (default: .local)')
    .option('--json', 'write JSON, for scripts')
    .option('--yes', 'do not ask before actions that cannot be undone')
    .addHelpText('after', EXAMPLES);
  for (const add of COMMANDS) add(program, (work) => action(terminal, ended, work));
  return configured(program, terminal);
};

/** Makes commander throw instead of ending the process, and write to the terminal, for each command. */
const configured = (command: Command, terminal: Terminal): Command => {
  command
    .exitOverride()
    .showHelpAfterError('Try --help.')
    .configureOutput({ writeOut: terminal.out, writeErr: terminal.error });
  for (const child of command.commands) configured(child, terminal);
  return command;
};

const isRequested = ({ code }: CommanderError): boolean =>
  code === 'commander.helpDisplayed' || code === 'commander.version';

/** Runs one command line and returns its exit code. It never throws and never writes a stack trace. */
export const run = async (args: readonly string[], terminal: Terminal): Promise<number> => {
  let exitCode = 0;
  try {
    await programFor(terminal, (code) => {
      exitCode = code;
    }).parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return isRequested(error) ? 0 : 2;
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
