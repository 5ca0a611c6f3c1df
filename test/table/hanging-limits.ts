import type { Table } from '#shared/table/client.ts';

/** A connection to a table whose writes of limits get no response: such a call ends when its signal aborts. */
interface HangingLimits extends Table {
  /** How many writes of limits were sent. */
  limitCalls(): number;
}

interface Sent {
  readonly input: { readonly Key?: { readonly pk?: unknown } };
}

/** Returns the table with a client that leaves writes of limits without a response. */
export const hangingLimits = ({ name, client }: Table): HangingLimits => {
  let calls = 0;
  const send = (command: Sent, options: { readonly abortSignal?: AbortSignal } = {}): Promise<unknown> => {
    if (!String(command.input.Key?.pk).startsWith('LIMIT#')) return client.send(command as never, options);
    calls += 1;
    return new Promise((_resolve, reject) => {
      const { abortSignal } = options;
      if (abortSignal?.aborted) reject(abortSignal.reason);
      abortSignal?.addEventListener('abort', () => reject(abortSignal.reason));
    });
  };
  return { name, client: { send } as unknown as Table['client'], limitCalls: () => calls };
};
