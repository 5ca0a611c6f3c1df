import { startDatabase } from '#local/database.ts';
import { FIXED_ACCESS_KEY_ID, setLocalCredentials } from '#local/environment.ts';
import { ensureTable } from '#local/table.ts';
import { openTable, type Table } from '#shared/table/client.ts';

/** A late response is not resent: a test that counts calls or attempts would see one more. */
const ON_A_BUSY_MACHINE = { connectMs: 60_000, responseMs: 60_000 };

/** A real, empty table in an embedded database of its own, in memory. */
export interface EmbeddedTable extends Table {
  readonly endpoint: string;
  stop(): Promise<void>;
}

/** Starts the database and makes the table. `stop` it in afterAll. */
export const startEmbeddedTable = async (): Promise<EmbeddedTable> => {
  setLocalCredentials();
  const database = await startDatabase({ accessKeyId: FIXED_ACCESS_KEY_ID });
  const table = openTable('test', database.endpoint, ON_A_BUSY_MACHINE);
  await ensureTable(table);
  return {
    ...table,
    endpoint: database.endpoint,
    async stop() {
      table.client.destroy();
      await database.stop();
    },
  };
};
