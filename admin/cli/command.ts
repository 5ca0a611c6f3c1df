import type { Command } from 'commander';
import wrapAnsi from 'wrap-ansi';
import { refusal } from '#admin/refusal.ts';
import type { Connection, Deployments, TargetOptions } from './connection.ts';
import { type Block, render } from './render.ts';
import type { Terminal } from './terminal.ts';

export const PROGRAM = 'buyer-linking';

/** How `--help` describes a phone. */
export const PHONE_HELP = '0912… or +98912…, or - to read it from stdin';

/** The options that every command has. */
export interface GlobalOptions extends TargetOptions {
  readonly json?: boolean;
  readonly yes?: boolean;
  readonly verbose?: boolean;
}

export interface CommandResult {
  /** The value for `--json`. */
  readonly json: unknown;
  /** What people read, and other programs in a pipe. */
  readonly text: Block | readonly Block[];
  /** A sentence on stderr, left out with `--json` and if it is empty. */
  readonly note?: string | undefined;
  /** A sentence on stderr, also with `--json`. */
  readonly warning?: string | undefined;
  /** 1 if the command found a problem, such as differences. */
  readonly exitCode?: 0 | 1;
}

/** The connection and the terminal of one command. */
export interface Session extends Connection {
  readonly terminal: Terminal;
  /** Asks before an action that cannot be undone. Throws `not_confirmed` if the terminal is not interactive. `--yes` skips the question. */
  confirm(question: string): Promise<void>;
}

const confirmWith =
  (terminal: Terminal, isYes: boolean) =>
  async (question: string): Promise<void> => {
    if (isYes) return;
    if (!terminal.isInteractive) {
      throw refusal('not_confirmed', `${question} This terminal is not interactive. Add --yes to confirm.`);
    }
    const answer = await terminal.ask(`${question} [y/N] `);
    if (!/^y(es)?$/i.test(answer.trim())) throw refusal('declined', 'Nothing was changed.');
  };

/** Wraps a text between words on a terminal. A pipe or a file gets it as it is. */
export const wrapped = (text: string, { canRedraw, columns }: Terminal): string =>
  canRedraw ? wrapAnsi(text, columns) : text;

/** What a command does. It gets the arguments of the command line, then the options. */
type Work = (session: Session, ...args: never[]) => Promise<CommandResult>;

/** Writes the result of a command. */
export const write = (
  terminal: Terminal,
  isJson: boolean,
  { json, text, note, warning }: CommandResult,
): void => {
  terminal.out(isJson ? `${JSON.stringify(json, null, 2)}\n` : render(text, terminal.output));
  if (note && !isJson) {
    terminal.error(`${wrapped(note, terminal)}\n`);
  }
  if (warning !== undefined) terminal.error(`${wrapped(`warning: ${warning}`, terminal)}\n`);
};

/** What `--help` says about an argument, by its name. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  seller: 'sel_…, or its name',
  key: 'key_…, its name, or the last four characters of its secret',
  name: 'a name for people, 1 to 100 characters',
  'user-id': 'usr_…',
  user: 'usr_…, a phone, - to read a phone from stdin, or an external id',
  subject: 'a seller, a key, or deployment (imports, buyers, keys only in API Gateway)',
  file: 'UTF-8, with one phone on each line',
  provider: 'jibit, zohal, kavenegar or sms-ir',
  phone: `${PHONE_HELP}; without it, the command asks`,
};

/** Adds a command. `usage`: its name and arguments. `examples`: command lines without the name of the program. */
export const addCommand = (
  parent: Command,
  usage: string,
  description: string,
  examples: readonly string[],
): Command => {
  const [name = '', ...args] = usage.split(' ');
  const command = parent.command(name).description(description);
  for (const argument of args) command.argument(argument, ARGUMENTS[argument.slice(1, -1)]);
  const lines = examples.map((example) => `\n  $ ${PROGRAM} ${example}`).join('');
  return command.addHelpText(
    'after',
    `\nExample${examples.length === 1 ? '' : 's'}:${lines}\n\nOptions of every command, such as --stage and --json: ${PROGRAM} --help`,
  );
};

/** Returns functions that add commands which connect, do their work, write its result and report the exit code. */
export const commandsOf = (
  program: Command,
  { terminal, connect }: Pick<Deployments, 'connect'> & { readonly terminal: Terminal },
  ended: (exitCode: number) => void,
) => {
  const addTo =
    (parent: Command) =>
    (usage: string, description: string, work: Work, ...examples: readonly string[]): Command =>
      addCommand(parent, usage, description, examples).action(async (...received: unknown[]) => {
        const command = received.at(-1) as Command;
        const options = command.optsWithGlobals<GlobalOptions>();
        const connection = await connect(options);
        const onStep = (step: string): void => terminal.error(`${step}\n`);
        try {
          const session = {
            ...connection,
            admin: options.verbose === true ? { ...connection.admin, onStep } : connection.admin,
            terminal,
            confirm: confirmWith(terminal, options.yes === true),
          };
          const result = await work(session, ...([...received.slice(0, -2), options] as never[]));
          write(terminal, options.json === true, result);
          ended(result.exitCode ?? 0);
        } finally {
          connection.close();
        }
      });
  return {
    add: addTo(program),
    /** Returns a function that adds commands to a new group, such as `keys`. */
    group: (name: string, description: string) => addTo(program.command(name).description(description)),
  };
};

/** Adds commands to the program. */
export type AddCommands = (commands: ReturnType<typeof commandsOf>) => void;
