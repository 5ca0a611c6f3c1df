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

/** What a command answers: one value for scripts, one text for people, and what to say besides on stderr. */
export interface Answer {
  readonly json: unknown;
  readonly text: string;
  readonly note?: string;
  /** 1 where the answer itself is bad news, such as differences that were found. */
  readonly exitCode?: 0 | 1;
}

/** What a command works with. */
export interface Session extends Connection {
  readonly terminal: Terminal;
  readonly isJson: boolean;
  /** Asks before something that cannot be taken back; refuses where nobody can be asked. `--yes` answers it. */
  confirm(question: string): Promise<void>;
}

const confirmWith =
  (terminal: Terminal, isYes: boolean) =>
  async (question: string): Promise<void> => {
    if (isYes) return;
    if (!terminal.isInteractive) {
      throw refusal('not_confirmed', `${question} Nobody can be asked here: add --yes if you mean it.`);
    }
    const answer = await terminal.ask(`${question} [y/N] `);
    if (!/^y(es)?$/i.test(answer.trim())) throw refusal('not_confirmed', 'Nothing was done.');
  };

/** Makes a command's action: connect, do it, write the answer, say how it ended. */
export const action =
  <Arguments extends unknown[], Options extends object>(
    terminal: Terminal,
    ended: (exitCode: number) => void,
    work: (session: Session, options: Options, ...args: Arguments) => Promise<Answer>,
  ) =>
  async (...received: unknown[]): Promise<void> => {
    const command = received.at(-1) as Command;
    const args = received.slice(0, -2) as Arguments;
    const options = command.optsWithGlobals<GlobalOptions & Options>();
    const isJson = options.json === true;
    const connection = await connect(options);
    try {
      const session: Session = {
        ...connection,
        terminal,
        isJson,
        confirm: confirmWith(terminal, options.yes === true),
      };
      const answer = await work(session, options, ...args);
      terminal.out(isJson ? `${JSON.stringify(answer.json, null, 2)}\n` : answer.text);
      if (answer.note !== undefined) terminal.error(`${answer.note}\n`);
      ended(answer.exitCode ?? 0);
    } finally {
      connection.close();
    }
  };

/** How the commands of one folder are added to the program. */
export type AddCommands = (
  program: Command,
  act: <Arguments extends unknown[], Options extends object>(
    work: (session: Session, options: Options, ...args: Arguments) => Promise<Answer>,
  ) => (...received: unknown[]) => Promise<void>,
) => void;
