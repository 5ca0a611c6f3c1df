import type { Table } from '#shared/table/client.ts';

/** A table whose every write is sent twice, as the SDK does when the first response is lost: only the second response is seen. */
export const resending = (table: Table): Table => {
  const send = table.client.send.bind(table.client) as (
    command: object,
    options?: object,
  ) => Promise<unknown>;
  const sendTwice = async (command: object, options?: object): Promise<unknown> => {
    if (/^(?:Update|Put|Delete)Command$/.test(command.constructor.name)) await send(command, options);
    return send(command, options);
  };
  return { name: table.name, client: { send: sendTwice } as unknown as Table['client'] };
};
