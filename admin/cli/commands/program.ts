import { Command, CommanderError } from 'commander';
import { personalIn } from '#shared/log.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import { type AddCommands, commandsOf, PROGRAM } from '../command.ts';
import type { Deployments } from '../connection.ts';
import { type Failure, failureOf } from '../errors.ts';
import { escapedLines } from '../escaped.ts';
import { escaping, type Terminal } from '../terminal.ts';
import { addAuditCommand } from './audit.ts';
import { addBuyerCommands } from './buyers.ts';
import { addHashSecretCommands } from './hash-secret.ts';
import { addInfoCommand } from './info.ts';
import { addKeyCommands } from './keys.ts';
import { addProviderCommands } from './providers.ts';
import { addReconcileCommand } from './reconcile.ts';
import { addRestoreCommands } from './restore.ts';
import { addSellerCommands } from './sellers.ts';
import { addUsageCommand } from './usage.ts';
import { addUserCommands } from './users.ts';

const COMMANDS: readonly AddCommands[] = [
  addSellerCommands,
  addKeyCommands,
  addBuyerCommands,
  addUserCommands,
  addUsageCommand,
  addReconcileCommand,
  addRestoreCommands,
  addHashSecretCommands,
  addAuditCommand,
  addInfoCommand,
  addProviderCommands,
];

const EXAMPLES = `
Examples:
  $ ${PROGRAM} sellers create "Kaveh Books"
  $ ${PROGRAM} keys issue sel_… --plan free --scopes users:read --expires 90d
  $ ${PROGRAM} --stage prod keys list sel_… --json

Exit codes: 0 done; 1 refused, not found, or reconcile left a difference;
2 wrong command line; 130 interrupted.`;

/** Shows the help of the command that words name, of any depth: that of Commander goes one level down. */
const showHelp = (program: Command, words: readonly string[]): never => {
  let command: Command = program;
  for (const word of words) {
    const child = command.commands.find((each) => each.name() === word);
    if (child === undefined) command.error(`unknown command '${word}'`);
    command = child;
  }
  return command.help();
};

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
    .option('--wide', 'show all columns of a table, and wrap nothing')
    .option('--json', 'write JSON, for scripts')
    .option('--yes', 'do not ask before actions that cannot be undone')
    .version(packageJson.version, '--version', 'show the version')
    .addHelpText('after', EXAMPLES)
    // Commander throws instead of ending the process, and leaves the report of an error to `run`.
    .exitOverride()
    .configureOutput({
      writeOut: terminal.out,
      writeErr: (help) => void terminal.errorStream.write(help),
      outputError: () => {},
    });
  const commands = commandsOf({ program, terminal, deployments, ended });
  for (const add of COMMANDS) add(commands);
  program
    .helpCommand(false)
    .command('help')
    .description('show the help of a command')
    .argument('[command...]', 'its words, such as keys issue')
    .action((words: readonly string[]) => showHelp(program, words));
  return program;
};

/** Words that must not be run because a misspelled one looked like them. */
const CANNOT_BE_UNDONE = /\b(?:revoke|remove|delete|erase|suspend|rotate|expire|renumber)\b/;

/** An error about the command line, for people: without a suggestion that cannot be undone, and with the command whose help says more. */
const usageFailure = (program: Command, args: readonly string[], error: CommanderError): Failure => {
  const called = [program];
  // `help keys isue` is about `keys`.
  for (const word of args.filter((each) => each !== 'help')) {
    const child = called.at(-1)?.commands.find((command) => command.name() === word);
    if (child !== undefined) called.push(child);
  }
  const [sentence = '', ...rest] = error.message
    .replace(/^error: /, '')
    .trim()
    .split('\n');
  const suggestions = rest.filter((line) => !CANNOT_BE_UNDONE.test(line));
  // Commander names the first one only.
  const missing = called
    .flatMap((command) => command.options.map((option) => ({ command, option })))
    .filter(
      ({ command, option }) =>
        option.mandatory && command.getOptionValue(option.attributeName()) === undefined,
    )
    .map(({ option }) => option.flags);
  const isMissing = error.code === 'commander.missingMandatoryOptionValue';
  const help = `Try ${called.map((command) => command.name()).join(' ')} --help.`;
  const message = [isMissing ? `missing: ${missing.join(', ')}` : sentence, ...suggestions, help].join('\n');
  return { code: 'usage', message };
};

/**
 * Hides what was typed and looks like a secret, a phone or a national id, also if the message writes it with other separators or a part of it.
 * Dates stay, and numbers of the CLI itself.
 */
const withoutPersonal = (message: string, args: readonly string[]): string =>
  personalIn(args.join(' '))
    .flatMap((typed) => [typed, ...typed.split(' ')])
    .filter((typed) => !/^\d{4}-\d\d-\d\d$/.test(typed))
    .map((typed) => typed.match(/[\p{L}\p{Nd}]/gu) ?? [])
    .filter(({ length }) => length > 0)
    .map((characters) => new RegExp(`(?<!\\p{Nd})${characters.join('[^\\p{L}\\p{Nd}]*')}(?!\\p{Nd})`, 'gu'))
    .reduce((text, typed) => text.replace(typed, '[redacted]'), message);

/** The exit codes of failures. Shells report Ctrl-C by 130. */
const EXIT_CODES: Readonly<Record<string, number>> = { usage: 2, interrupted: 130 };

/** Runs one command line and returns its exit code. It never throws and never writes a stack trace. With `--json` every error is JSON. */
export const run = async (
  args: readonly string[],
  given: Terminal,
  deployments: Deployments,
): Promise<number> => {
  const terminal = escaping(given);
  let exitCode = 0;
  const program = programFor(terminal, deployments, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    const isUsage = error instanceof CommanderError;
    // Commander has written the help: `--help`, or no command.
    if (isUsage && (error.exitCode === 0 || error.code === 'commander.help'))
      return error.exitCode === 0 ? 0 : 2;
    const failure = isUsage ? usageFailure(program, args, error) : failureOf(error);
    const label = failure.code === 'interrupted' || failure.code === 'declined' ? '' : 'error: ';
    const { code } = failure;
    const message = withoutPersonal(failure.message, args);
    if (args.includes('--json'))
      terminal.errorStream.write(escapedLines(`${JSON.stringify({ error: { code, message } })}\n`));
    else terminal.error(`${label}${message}`);
    return EXIT_CODES[code] ?? 1;
  }
};
