import type { Table } from '#shared/table/client.ts';
import { callRounds } from './call-rounds.ts';
import { interceptedTable } from './intercepted-table.ts';

/** A table that counts its calls. */
export interface CountedTable {
  readonly table: Table;
  readonly rounds: ReturnType<typeof callRounds>['rounds'];
}

export const countedTable = (table: Table): CountedTable => {
  const { rounds, make } = callRounds();
  return { table: interceptedTable(table, ({ name }, send) => make(name, send)), rounds };
};
