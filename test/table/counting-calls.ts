import type { Table } from '#shared/table/client.ts';

/** A connection to a table that records its calls. */
export interface CountedTable extends Table {
  /** The names of the calls so far, without "Command": `Update`, `BatchGet`. */
  readonly calls: string[];
}

/** Returns the table with a client that records each call and then makes it. */
export const countingCalls = ({ name, client }: Table): CountedTable => {
  const calls: string[] = [];
  const send = (...args: Parameters<typeof client.send>) => {
    calls.push(args[0].constructor.name.replace(/Command$/, ''));
    return client.send(...args);
  };
  return { name, calls, client: Object.assign(Object.create(client), { send }) };
};
