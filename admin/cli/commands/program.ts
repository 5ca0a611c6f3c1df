import { Command, CommanderError } from 'commander';
import packageJson from '../../../package.json' with { type: 'json' };
import { type AddCommands, commandsOf, PROGRAM, wrapped } from '../command.ts';
import type { Deployments } from '../connection.ts';
import { failureOf, UsageError } from '../errors.ts';
import type { Terminal } from '../terminal.ts';
import { addAuditCommand } from './audit.ts';
import { addBuyerCommands } from './buyers.ts';
import { addHashSecretCommands } from './hash-secret.ts';
import { addInfoCommands } from './info.ts';
import { addUsageCommand } from './key-limits.ts';
import { addKeyCommands } from './keys.ts';
import { addProviderCommands } from './providers.ts';
import { addReconcileCommand } from './reconcile.ts';
import { addSellerCommands } from './sellers.ts';
import { addUserCommands } from './users.ts';

const COMMANDS: readonly AddCommands[] = [
  addSellerCommands,
  addKeyCommands,
  addUsageCommand,
  addBuyerCommands,
  addUserCommands,
  addReconcileCommand,
  addHashSecretCommands,
  addAuditCommand,
  addInfoCommands,
];

const EXAMPLES = `
Examples:
  $ ${PROGRAM} sellers create "Kaveh Books"
  $ ${PROGRAM} keys issue sel_… --plan free --scopes users:read --expires 90d
  $ ${PROGRAM} --stage prod keys list sel_… --json

Exit codes: 0 done; 1 refused, not found, or reconcile left a difference;
2 wrong command line; 130 interrupted.`;

/** Returns the command with a name such as `keys issue`. Commander's own `help` takes one word only. */
const commandNamed = (program: Command, names: readonly string[]): Command =>
  names.reduce((parent, name) => {
    const child = parent.commands.find((command) => command.name() === name);
    if (child === undefined) throw new UsageError(`There is no command ${names.join(' ')}. Try --help.`);
    return child;
  }, program);

/** Returns the program with all commands. Global options are accepted before and after a command. */
export const programFor = (
  terminal: Terminal,
  deployments: Deployments,
  ended: (exitCode: number) => void = () => {},
): Command => {
  const program = new Command(PROGRAM)
    .description('Manage the sellers, keys, plans, buyers and users of a deployment.')
    .option('--local', 'the local service of npm start (the default)')
    .option('--stage <name>', 'a stage in AWS, with your AWS credentials')
    .option('--profile <name>', 'the AWS profile')
    .option('--region <name>', 'the AWS Region')
    .option('--data <folder>', 'the data folder of the local service (default: .local)')
    .option('--json', 'write JSON, for scripts')
    .option('--yes', 'do not ask before actions that cannot be undone')
    .option('--verbose', 'show the steps of an operation, on stderr')
    .version(packageJson.version, '--version', 'show the version')
    .addHelpText('after', EXAMPLES);
  const commands = commandsOf(program, { terminal, connect: deployments.connect }, ended);
  for (const add of COMMANDS) add(commands);
  addProviderCommands(program, terminal, deployments);
  program
    .helpCommand(false)
    .command('help')
    .argument('[command...]', 'its name, such as: keys issue')
    .description('show the help of a command')
    .action((names: readonly string[]) => commandNamed(program, names).outputHelp());
  return configured(program, terminal);
};

/** Makes commander throw instead of ending the process, and write to the terminal, for each command. */
const configured = (command: Command, terminal: Terminal): Command => {
  command
    .exitOverride()
    .showHelpAfterError('Try --help.')
    .configureOutput({ writeOut: terminal.out, writeErr: (text) => terminal.error(wrapped(text, terminal)) });
  for (const child of command.commands) configured(child, terminal);
  return command;
};

const isRequested = ({ code }: CommanderError): boolean =>
  code === 'commander.helpDisplayed' || code === 'commander.version';

/** Ctrl-C, as shells report it. */
const INTERRUPTED = 130;

/** Runs one command line and returns its exit code. It never throws and never writes a stack trace. */
export const run = async (
  args: readonly string[],
  terminal: Terminal,
  deployments: Deployments,
): Promise<number> => {
  let exitCode = 0;
  try {
    await programFor(terminal, deployments, (code) => {
      exitCode = code;
    }).parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return isRequested(error) ? 0 : 2;
    if (error instanceof UsageError) {
      terminal.error(`${wrapped(`error: ${error.message}`, terminal)}\n`);
      return 2;
    }
    const failure = failureOf(error);
    const isIntended = failure.code === 'interrupted' || failure.code === 'declined';
    const text = isIntended ? failure.message : `error: ${failure.message}`;
    terminal.error(
      `${args.includes('--json') ? JSON.stringify({ error: failure }) : wrapped(text, terminal)}\n`,
    );
    return failure.code === 'interrupted' ? INTERRUPTED : 1;
  }
};
