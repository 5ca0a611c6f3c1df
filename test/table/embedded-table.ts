import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { DeleteTableCommand } from '@aws-sdk/client-dynamodb';
import { type Database, ensureTable, startDatabase } from '#local/database.ts';
import { setLocalCredentials } from '#local/environment.ts';
import { openTable, type Table } from '#shared/table/client.ts';
import { interceptedTable, type SentCommand } from './intercepted-table.ts';

/** A late response is not resent: a test that counts calls or attempts would see one more. */
const ON_A_BUSY_MACHINE = { connectMs: 60_000, responseMs: 60_000 };

const DATABASE = Symbol.for('buyer-linking.test-database');
const worker = globalThis as { [DATABASE]?: Promise<Database> };

const writes = new AsyncLocalStorage<Set<SentCommand>>();

/** Counts the writes that `run` began. Lambda stops a process that has answered, so none may be open then: throws with their names. */
export const withoutOpenWrites = async <T>(run: () => Promise<T>): Promise<T> => {
  const open = new Set<SentCommand>();
  const result = await writes.run(open, run);
  if (open.size > 0) throw new Error(`answered before ${Array.from(open, ({ name }) => name).join(', ')}`);
  return result;
};

const watchWrites = (table: Table): Table =>
  interceptedTable(table, (command, send) => {
    const open = writes.getStore();
    if (/Put|Update|Delete|Write/.test(command.name)) open?.add(command);
    return send().finally(() => open?.delete(command));
  });

/** A real, empty table in memory. */
export interface EmbeddedTable extends Table {
  readonly endpoint: string;
  stop(): Promise<void>;
}

/** The database requires a signature and does not check it. A right one takes a tenth of the CPU of the tests of functions. */
const withSomeSignature = async (request: { readonly headers: Record<string, string> }) => {
  const credential = 'Credential=test/20261121/us-east-1/dynamodb/aws4_request';
  request.headers.authorization = `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=host, Signature=0`;
  request.headers['x-amz-date'] = '20261121T080000Z';
  return request;
};

const startForWorker = (): Promise<Database> => {
  // Jest sends this signal to a worker that takes long to end; without an exit the database would go on.
  process.once('SIGTERM', () => process.exit());
  return startDatabase();
};

/** Makes the table in the database that all test files of a worker share and that ends with the worker. `stop` it in afterAll. */
export const startEmbeddedTable = async (): Promise<EmbeddedTable> => {
  setLocalCredentials();
  worker[DATABASE] ??= startForWorker();
  const { endpoint } = await worker[DATABASE];
  const table = watchWrites(openTable(`test-${randomUUID()}`, endpoint, ON_A_BUSY_MACHINE));
  Object.assign(table.client.config, { signer: async () => ({ sign: withSomeSignature }) });
  await ensureTable(table);
  return {
    ...table,
    endpoint,
    async stop() {
      await table.client.send(new DeleteTableCommand({ TableName: table.name }));
      table.client.destroy();
    },
  };
};
