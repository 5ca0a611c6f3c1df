import type { Command } from 'commander';
import { AdminError } from '#admin/admin-error.ts';
import type { Connection, Deployments, TargetOptions } from './connection.ts';
import { type Block, render } from './render.ts';
import type { Terminal } from './terminal.ts';

export const PROGRAM = 'buyer-linking';

/** How `--help` describes a phone. */
export const PHONE_HELP = '0912… or +98912…, or - to read it from stdin';

/** The options that every command has. */
interface GlobalOptions extends TargetOptions {
  readonly json?: boolean;
  readonly wide?: boolean;
  readonly yes?: boolean;
}

export interface CommandResult {
  /** The value for `--json`. */
  readonly json: unknown;
  /** What people read. */
  readonly text: Block | readonly Block[];
  /** A sentence on stderr, left out with `--json` and if it is empty. */
  readonly note?: string | undefined;
  /** A sentence on stderr, also with `--json`. */
  readonly warning?: string | undefined;
  /** 1 if the command found a problem, such as differences. */
  readonly exitCode?: 0 | 1;
}

/** What a command works with: what it is connected to, and the terminal. */
export type SessionOf<Target> = Target & {
  readonly terminal: Terminal;
  /** Asks before an action that cannot be undone. Throws `not_confirmed` if the terminal is not interactive. `--yes` skips the question. */
  requireYes(question: string): Promise<void>;
};

export type Session = SessionOf<Connection>;

/** `1 user`, `2,000 users` */
export const plural = (count: number, noun: string): string =>
  `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;

const requireYesOn =
  (terminal: Terminal, isYes: boolean) =>
  async (question: string): Promise<void> => {
    if (isYes) return;
    if (!terminal.isInteractive) {
      throw new AdminError('not_confirmed', `${question} This terminal is not interactive. Add --yes.`);
    }
    const answer = await terminal.ask(`${question} [y/N] `);
    if (!/^y(es)?$/i.test(answer.trim())) throw new AdminError('declined', 'Nothing was changed.');
  };

/** What `--help` says about an argument, by its name. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  seller: 'sel_…, or its name',
  table: 'the table that DynamoDB restored',
  key: 'key_…, its name, or the last four characters of its secret',
  'key...': 'key_…, a name, or the last four characters of a secret',
  name: 'a name for people, 1 to 100 characters',
  'user-id': 'usr_…',
  user: 'usr_…, a phone, - to read a phone from stdin, or an external id',
  of: 'a key or a seller, by its id or name',
  subject: 'a seller, a key, or deployment (imports, buyers, keys only in API Gateway)',
  file: 'one phone on each line, or a CSV file and --column; UTF-8 or UTF-16',
  phone: `${PHONE_HELP}; without it, the command asks`,
};

/** Where commands are added, and what each of them does around its work. */
interface CommandContext {
  readonly program: Command;
  readonly terminal: Terminal;
  readonly deployments: Deployments;
  /** Is called with the exit code of a command that has done its work. */
  readonly ended: (exitCode: number) => void;
}

/**
 * Returns a function that adds commands to a parent. Each opens its target, does its work, writes its result and reports the exit code.
 * `usage`: the name and arguments. `work` gets the arguments of the command line, then the options. `examples`: command lines
 * without the name of the program.
 */
const adderTo =
  <Target>(
    { terminal, ended }: CommandContext,
    parent: Command,
    open: (options: GlobalOptions) => Promise<Target>,
  ) =>
  (
    usage: string,
    description: string,
    work: (session: SessionOf<Target>, ...args: never[]) => Promise<CommandResult>,
    ...examples: readonly string[]
  ): Command => {
    const [name = '', ...args] = usage.split(' ');
    const command = parent.command(name).description(description);
    for (const argument of args) command.argument(argument, ARGUMENTS[argument.slice(1, -1)]);
    const lines = examples.map((example) => `\n  $ ${PROGRAM} ${example}`).join('');
    const others = `Options of every command, such as --stage and --json: ${PROGRAM} --help`;
    return command.addHelpText('after', `${lines}\n\n${others}`).action(async (...received: unknown[]) => {
      const options = command.optsWithGlobals<GlobalOptions>();
      const requireYes = requireYesOn(terminal, options.yes === true);
      const session = { ...(await open(options)), terminal, requireYes };
      const result = await work(session, ...([...received.slice(0, -2), options] as never[]));
      const { json, text, note = '', warning, exitCode = 0 } = result;
      const isJson = options.json === true;
      terminal.out(
        isJson
          ? `${JSON.stringify(json, null, 2)}\n`
          : render(text, options.wide === true ? undefined : terminal.columns),
      );
      if (note !== '' && !isJson) terminal.error(note);
      if (warning !== undefined) terminal.error(`warning: ${warning}`);
      ended(exitCode);
    });
  };

/** Returns functions that add commands to the program, and to a new group such as `keys`. */
export const commandsOf = (context: CommandContext) => {
  const { program, deployments } = context;
  /** For a group whose commands open something other than a deployment. */
  const groupOf =
    <Target>(open: (options: GlobalOptions) => Promise<Target>) =>
    (name: string, description: string) =>
      adderTo(context, program.command(name).description(description), open);
  return {
    add: adderTo(context, program, deployments.connect),
    group: groupOf(deployments.connect),
    groupOf,
    deployments,
  };
};

export type AddCommands = (commands: ReturnType<typeof commandsOf>) => void;
