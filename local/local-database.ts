import { randomBase62 } from '#shared/base62.ts';
import { openTable, type Table } from '#shared/table/client.ts';
import { type Database, foreignDatabase, startDatabase } from './database.ts';
import { FIXED_ACCESS_KEY_ID, setLocalCredentials, TABLE_NAME } from './environment.ts';
import { StartupError } from './startup-error.ts';
import { ensureTable } from './table.ts';

/** Ends one part of the service. */
export type Closer = () => Promise<unknown> | unknown;

/** The options of the local database. */
export interface DatabaseOptions {
  readonly inMemory: boolean;
  /** Another DynamoDB than the embedded one. */
  readonly databaseEndpoint: string | undefined;
  readonly onProgress: (sentence: string) => void;
}

/** Starts the embedded database, or connects to the chosen one, and sets the credentials for it. */
export const openDatabase = async (
  { inMemory, databaseEndpoint, onProgress }: DatabaseOptions,
  folder: { readonly path: string; readonly tableFile: string },
  closers: Closer[],
): Promise<Database> => {
  if (databaseEndpoint !== undefined) {
    onProgress(`Using the DynamoDB at ${databaseEndpoint}.`);
    setLocalCredentials(FIXED_ACCESS_KEY_ID);
    return foreignDatabase(databaseEndpoint, FIXED_ACCESS_KEY_ID);
  }
  onProgress(
    inMemory
      ? 'Starting the embedded DynamoDB in memory: it keeps nothing after the end.'
      : `Starting the embedded DynamoDB; its data is kept in ${folder.path}.`,
  );
  const accessKeyId = randomBase62(20);
  setLocalCredentials(accessKeyId);
  const database = await startDatabase({ accessKeyId, ...(inMemory ? {} : { file: folder.tableFile }) });
  closers.push(database.stop);
  return database;
};

/** Opens the table and creates it if it is missing. Throws a StartupError if the database gives none. */
export const openLocalTable = async ({ endpoint }: Database, closers: Closer[]): Promise<Table> => {
  const table = openTable(TABLE_NAME, endpoint);
  closers.push(() => table.client.destroy());
  await ensureTable(table).catch((cause: Error) => {
    throw new StartupError(`The DynamoDB at ${endpoint} gives no table: ${cause.name}.`, { cause });
  });
  return table;
};
