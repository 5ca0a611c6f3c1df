import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import { openTable, type Table } from '#shared/table/client.ts';

/** A real, empty table in an embedded database of its own, in memory. */
export interface EmbeddedTable extends Table {
  readonly endpoint: string;
  stop(): Promise<void>;
}

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
};

const binaryPath = (): string => {
  const packageJson = createRequire(import.meta.url).resolve(
    `@dynoxide/${process.platform}-${process.arch}/package.json`,
  );
  return join(dirname(packageJson), process.platform === 'win32' ? 'dynoxide.exe' : 'dynoxide');
};

const createTable = async (table: Table): Promise<void> => {
  const command = new CreateTableCommand({
    TableName: table.name,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [
      { AttributeName: 'pk', AttributeType: 'S' },
      { AttributeName: 'sk', AttributeType: 'S' },
    ],
    KeySchema: [
      { AttributeName: 'pk', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ],
  });
  for (let attempt = 0; ; attempt += 1) {
    try {
      await table.client.send(command);
      return;
    } catch (error) {
      if (attempt === 50) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
};

/** Starts the database and makes the table. `stop` it in afterAll. */
export const startEmbeddedTable = async (): Promise<EmbeddedTable> => {
  process.env.AWS_ACCESS_KEY_ID ??= 'local';
  process.env.AWS_SECRET_ACCESS_KEY ??= 'local';
  process.env.AWS_REGION ??= 'us-east-1';
  const port = await freePort();
  const database = spawn(binaryPath(), ['serve', '--host', '127.0.0.1', '--port', String(port)], {
    stdio: 'ignore',
  });
  const endpoint = `http://127.0.0.1:${port}`;
  const table = openTable('test', endpoint);
  await createTable(table);
  return {
    ...table,
    endpoint,
    async stop() {
      table.client.destroy();
      database.kill();
      await once(database, 'exit');
    },
  };
};
