import { Command, CommanderError, type Option } from 'commander';
import packageJson from '../../../package.json' with { type: 'json' };
import { type AddCommands, commandsOf, PROGRAM, wrapped } from '../command.ts';
import type { Deployments } from '../connection.ts';
import { type Failure, failureOf, UsageError } from '../errors.ts';
import type { Terminal } from '../terminal.ts';
import { addAuditCommand } from './audit.ts';
import { addBuyerCommands } from './buyers.ts';
import { addHashSecretCommands } from './hash-secret.ts';
import { addInfoCommands } from './info.ts';
import { addUsageCommand } from './key-limits.ts';
import { addKeyCommands } from './keys.ts';
import { addProviderCommands } from './providers.ts';
import { addReconcileCommand } from './reconcile.ts';
import { addRestoreCommands } from './restore.ts';
import { addSellerCommands } from './sellers.ts';
import { addUserCommands } from './users.ts';

const COMMANDS: readonly AddCommands[] = [
  addSellerCommands,
  addKeyCommands,
  addUsageCommand,
  addBuyerCommands,
  addUserCommands,
  addReconcileCommand,
  addRestoreCommands,
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
    if (child === undefined)
      throw new UsageError(`There is no command ${names.join(' ')}. Try ${PROGRAM} --help.`);
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

/** Words that must not be run because a misspelled one looked like them. */
const CANNOT_BE_UNDONE = /\b(?:revoke|remove|erase|suspend|rotate|expire)\b/;

/** The full name of a command: `buyer-linking keys issue`. */
const nameOf = (command: Command): string =>
  command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;

/** Names all options that are missing. Commander's own check names the first one. */
const checkOptions = (command: Command, required: readonly Option[]): void => {
  const missing = required.filter((option) => command.getOptionValue(option.attributeName()) === undefined);
  if (missing.length === 0) return;
  const names = missing.map(({ flags }) => flags).join(', ');
  command.error(`error: missing: ${names}`, { code: 'commander.missingMandatoryOptionValue' });
};

/** Makes commander throw instead of ending the process, and leaves the report of an error to `run`, for each command. */
const configured = (command: Command, terminal: Terminal): Command => {
  command
    .exitOverride()
    .configureOutput({ writeOut: terminal.out, writeErr: terminal.error, outputError: () => {} })
    .showSuggestionAfterError();
  const required = command.options.filter(({ mandatory }) => mandatory);
  for (const option of required) option.mandatory = false;
  command.hook('preAction', (_, action) => {
    if (action === command) checkOptions(command, required);
  });
  for (const child of command.commands) configured(child, terminal);
  return command;
};

/** The command that the first words of a command line name; the program if they name none. */
const calledCommand = (program: Command, args: readonly string[]): Command =>
  args.reduce(
    (parent, word) => parent.commands.find((command) => command.name() === word) ?? parent,
    program,
  );

/** An error about the command line, for people: without a suggestion that cannot be undone, and with the command whose help says more. */
const usageFailure = (program: Command, args: readonly string[], text: string): Failure => {
  const [sentence = '', ...rest] = text
    .replace(/^error: /, '')
    .trim()
    .split('\n');
  const suggestion = rest.filter((line) => !CANNOT_BE_UNDONE.test(line)).join(' ');
  const help = `Try ${nameOf(calledCommand(program, args))} --help.`;
  return { code: 'usage', message: [sentence, suggestion, help].filter((part) => part !== '').join('\n') };
};

const isRequested = ({ code }: CommanderError): boolean =>
  code === 'commander.helpDisplayed' || code === 'commander.version';

/** Ctrl-C, as shells report it. */
const INTERRUPTED = 130;

/** Runs one command line and returns its exit code. It never throws and never writes a stack trace. With `--json` every error is JSON. */
export const run = async (
  args: readonly string[],
  terminal: Terminal,
  deployments: Deployments,
): Promise<number> => {
  let exitCode = 0;
  const program = programFor(terminal, deployments, (code) => {
    exitCode = code;
  });
  const report = (failure: Failure, label = 'error: '): void => {
    const text = wrapped(`${label}${failure.message}`, terminal);
    terminal.error(`${args.includes('--json') ? JSON.stringify({ error: failure }) : text}\n`);
  };
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError && isRequested(error)) return 0;
    if (error instanceof CommanderError) {
      // Without a command, commander has written the help.
      if (error.code !== 'commander.help') report(usageFailure(program, args, error.message));
      return 2;
    }
    const failure = failureOf(error);
    report(failure, failure.code === 'interrupted' || failure.code === 'declined' ? '' : undefined);
    if (error instanceof UsageError) return 2;
    return failure.code === 'interrupted' ? INTERRUPTED : 1;
  }
};
