import {
  CreateTableCommand,
  ResourceInUseException,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { openTable, type Table } from '#shared/table/client.ts';
import type { DataFolder } from './data-folder.ts';
import { type Database, foreignDatabase, startDatabase } from './database.ts';
import { setLocalCredentials, TABLE_NAME } from './environment.ts';
import { StartupError } from './startup-error.ts';
import { usagePlansTable } from './usage-plans.ts';

const ACTIVE_WITHIN_SECONDS = 30;

/** The options of the local database. */
export interface DatabaseOptions {
  /** The table and the usage plans are not kept. */
  readonly inMemory: boolean;
  /** Another DynamoDB than the embedded one. */
  readonly databaseEndpoint: string | undefined;
  /** Receives a sentence about each step of the start. */
  readonly onProgress: (sentence: string) => void;
}

/**
 * Opens the embedded database, or the chosen one, and its tables. Creates those that are missing. `parts` ends both. Throws a
 * StartupError if there is no database.
 */
export const openLocalTable = async (
  { inMemory, databaseEndpoint, onProgress }: DatabaseOptions,
  { path, tableFile, databasePidFile }: DataFolder,
  parts: AsyncDisposableStack,
): Promise<{ readonly database: Database; readonly table: Table }> => {
  setLocalCredentials();
  const kept = inMemory ? ' in memory: it keeps nothing after the end' : `; its data is kept in ${path}`;
  onProgress(
    databaseEndpoint === undefined
      ? `Starting the embedded DynamoDB${kept}.`
      : `Using the DynamoDB at ${databaseEndpoint}.`,
  );
  const database =
    databaseEndpoint === undefined
      ? await startDatabase({ file: inMemory ? undefined : tableFile, pidFile: databasePidFile })
      : foreignDatabase(databaseEndpoint);
  parts.defer(database.stop);
  const table = openTable(TABLE_NAME, database.endpoint);
  parts.defer(() => table.client.destroy());
  try {
    await ensureTable(table);
    await ensureTable(usagePlansTable(table));
  } catch (cause) {
    const { name } = cause as Error;
    throw new StartupError(`The DynamoDB at ${database.endpoint} gives no table: ${name}.`, { cause });
  }
  return { database, table };
};

/** Creates the table as the data stack does, if it is missing. */
export const ensureTable = async ({ client, name: TableName }: Table): Promise<void> => {
  try {
    await client.send(
      new CreateTableCommand({
        TableName,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [
          { AttributeName: 'pk', AttributeType: 'S' },
          { AttributeName: 'sk', AttributeType: 'S' },
        ],
        KeySchema: [
          { AttributeName: 'pk', KeyType: 'HASH' },
          { AttributeName: 'sk', KeyType: 'RANGE' },
        ],
      }),
    );
  } catch (error) {
    if (error instanceof ResourceInUseException) return;
    throw error;
  }
  await waitUntilTableExists({ client, maxWaitTime: ACTIVE_WITHIN_SECONDS, minDelay: 1 }, { TableName });
  await client.send(
    new UpdateTimeToLiveCommand({
      TableName,
      TimeToLiveSpecification: { Enabled: true, AttributeName: 'ttl' },
    }),
  );
};
