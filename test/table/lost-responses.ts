import { openTable, type Table } from '#shared/table/client.ts';
import type { TestTable } from './use-table.ts';

/** A connection to a table that can lose responses. */
export interface LossyTable extends Table {
  /** Loses the responses of the next `count` writes, after the database has decided on them. The SDK then sends each of them again. */
  loseWrites(count: number): void;
  /** How many responses were lost so far. */
  lost(): number;
}

const WRITES: readonly unknown[] = [
  'UpdateItemCommand',
  'PutItemCommand',
  'DeleteItemCommand',
  'TransactWriteItemsCommand',
];

/** Opens the table once more, behind a connection that loses the responses of writes. Destroy its client in afterAll. */
export const losingResponses = ({ name, endpoint }: TestTable): LossyTable => {
  const table = openTable(name, endpoint);
  let toLose = 0;
  let lost = 0;
  // This step runs within the retries of the SDK.
  table.client.middlewareStack.add(
    (next, context) => async (args) => {
      const isLost = toLose > 0 && WRITES.includes(context.commandName);
      if (!isLost) return next(args);
      toLose -= 1;
      await next(args).catch(() => {});
      lost += 1;
      throw Object.assign(new Error('the connection was reset'), { code: 'ECONNRESET' });
    },
    { step: 'deserialize', priority: 'high', name: 'lostResponses' },
  );
  return {
    ...table,
    loseWrites: (count) => {
      toLose = count;
    },
    lost: () => lost,
  };
};
