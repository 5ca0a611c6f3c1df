import type { Command } from 'commander';
import { refusal } from '#admin/operations/refusal.ts';
import { connect } from './connect.ts';
import type { Connection, TargetOptions } from './connection.ts';
import type { Terminal } from './terminal.ts';

/** The options that every command has. */
export interface GlobalOptions extends TargetOptions {
  readonly json?: boolean;
  readonly yes?: boolean;
}

/** The result of a command: a value for `--json`, a text for people, and an optional note on stderr. */
export interface CommandResult {
  readonly json: unknown;
  readonly text: string;
  readonly note?: string;
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
    if (!/^y(es)?$/i.test(answer.trim())) throw refusal('not_confirmed', 'Nothing was changed.');
  };

/** Returns the action of a command: it connects, runs `work`, writes the result and reports the exit code. */
export const action =
  <Arguments extends unknown[], Options extends object>(
    terminal: Terminal,
    ended: (exitCode: number) => void,
    work: (session: Session, options: Options, ...args: Arguments) => Promise<CommandResult>,
  ) =>
  async (...received: unknown[]): Promise<void> => {
    const command = received.at(-1) as Command;
    const args = received.slice(0, -2) as Arguments;
    const options = command.optsWithGlobals<GlobalOptions & Options>();
    const connection = await connect(options);
    try {
      const session: Session = {
        ...connection,
        terminal,
        confirm: confirmWith(terminal, options.yes === true),
      };
      const result = await work(session, options, ...args);
      terminal.out(options.json === true ? `${JSON.stringify(result.json, null, 2)}\n` : result.text);
      if (result.note !== undefined) terminal.error(`${result.note}\n`);
      ended(result.exitCode ?? 0);
    } finally {
      connection.close();
    }
  };

/** Adds a group of commands to the program. */
export type AddCommands = (
  program: Command,
  act: <Arguments extends unknown[], Options extends object>(
    work: (session: Session, options: Options, ...args: Arguments) => Promise<CommandResult>,
  ) => (...received: unknown[]) => Promise<void>,
) => void;
