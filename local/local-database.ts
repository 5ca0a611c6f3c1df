import { randomBase62 } from '#shared/base62.ts';
import { openTable, type Table } from '#shared/table/client.ts';
import type { DataFolder } from './data-folder.ts';
import { type Database, foreignDatabase, startDatabase } from './database.ts';
import { FIXED_ACCESS_KEY_ID, setLocalCredentials, TABLE_NAME } from './environment.ts';
import { StartupError } from './startup-error.ts';
import { ensureTable } from './table.ts';

/** The options of the local database. */
export interface DatabaseOptions {
  /** The table and the usage plans are not kept. */
  readonly inMemory: boolean;
  /** Another DynamoDB than the embedded one. */
  readonly databaseEndpoint: string | undefined;
  /** Receives a sentence about each step of the start. */
  readonly onProgress: (sentence: string) => void;
}

/** Opens the database and its table. Creates the table if it is missing. `parts` ends both. */
export const openLocalTable = async (
  options: DatabaseOptions,
  folder: DataFolder,
  parts: AsyncDisposableStack,
): Promise<{ readonly database: Database; readonly table: Table }> => {
  const database = await openDatabase(options, folder);
  parts.defer(database.stop);
  const { endpoint } = database;
  const table = openTable(TABLE_NAME, endpoint);
  parts.defer(() => table.client.destroy());
  await ensureTable(table).catch((cause: Error) => {
    throw new StartupError(`The DynamoDB at ${endpoint} gives no table: ${cause.name}.`, { cause });
  });
  return { database, table };
};

/** Starts the embedded database, or connects to the chosen one, and sets the credentials for it. */
const openDatabase = async (
  { inMemory, databaseEndpoint, onProgress }: DatabaseOptions,
  { path, tableFile }: DataFolder,
): Promise<Database> => {
  const accessKeyId = databaseEndpoint === undefined ? randomBase62(20) : FIXED_ACCESS_KEY_ID;
  setLocalCredentials(accessKeyId);
  if (databaseEndpoint !== undefined) {
    onProgress(`Using the DynamoDB at ${databaseEndpoint}.`);
    return foreignDatabase(databaseEndpoint, accessKeyId);
  }
  onProgress(
    inMemory
      ? 'Starting the embedded DynamoDB in memory: it keeps nothing after the end.'
      : `Starting the embedded DynamoDB; its data is kept in ${path}.`,
  );
  return startDatabase({ accessKeyId, file: inMemory ? undefined : tableFile });
};
