import type { Table } from '#shared/table/client.ts';

/** A command of the SDK, as far as tests look at it. */
export interface SentCommand {
  /** `GetCommand`, `TransactWriteCommand` … */
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

type Send = () => Promise<unknown>;

/** A table whose calls pass through `intercept`, which sends them on, sends them twice, changes their result or throws. */
export const interceptedTable = (
  { name, client }: Table,
  intercept: (command: SentCommand, send: Send) => Promise<unknown>,
): Table => {
  const send = (command: object & { readonly input: SentCommand['input'] }, options?: object) =>
    intercept({ name: command.constructor.name, input: command.input }, () =>
      client.send(command as never, options),
    );
  return { name, client: Object.assign(Object.create(client), { send }) };
};
