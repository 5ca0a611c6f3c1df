import type { Table } from '#shared/table/client.ts';
import { type EmbeddedTable, startEmbeddedTable } from './embedded-table.ts';

/** A table that exists while the tests of a file run. */
export type TestTable = Table & Pick<EmbeddedTable, 'endpoint'>;

/** Makes an empty table before the tests of a file, and deletes it after them. */
export const useTable = (): TestTable => {
  let started: EmbeddedTable;
  beforeAll(async () => {
    started = await startEmbeddedTable();
  });
  afterAll(() => started.stop());
  return {
    get name() {
      return started.name;
    },
    get client() {
      return started.client;
    },
    get endpoint() {
      return started.endpoint;
    },
  };
};
