import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DescribeTableCommand, DescribeTimeToLiveCommand } from '@aws-sdk/client-dynamodb';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { binaryPath, type Database, startDatabase } from '#local/database.ts';
import { setLocalCredentials } from '#local/environment.ts';
import { ensureTable } from '#local/table.ts';
import { openTable } from '#shared/table/client.ts';
import { newDataFolder, removeDataFolder, until } from '#test/service/running-service.ts';
import { databaseProcess, processesWith } from './database-process.ts';

const ACCESS_KEY_ID = 'KeyOfThisRun';

let folder: string;
let file: string;

beforeEach(async () => {
  setLocalCredentials(ACCESS_KEY_ID);
  folder = await newDataFolder();
  file = join(folder, 'table.sqlite');
});
afterEach(() => removeDataFolder(folder));

const start = (): Promise<Database> => startDatabase({ accessKeyId: ACCESS_KEY_ID, file });

describe('startDatabase', () => {
  it('keeps its data in the file from one start to the next', async () => {
    for (const itemsBefore of [0, 1]) {
      const database = await start();
      const table = openTable('kept', database.endpoint);
      await ensureTable(table);
      const { Table } = await table.client.send(new DescribeTableCommand({ TableName: 'kept' }));
      expect(Table?.ItemCount).toBe(itemsBefore);
      await table.client.send(new PutCommand({ TableName: 'kept', Item: { pk: 'a', sk: 'b' } }));
      table.client.destroy();
      await database.stop();
    }
  });

  it('leaves no process and no unwritten data after stop', async () => {
    const database = await start();
    const table = openTable('written', database.endpoint);
    await ensureTable(table);
    table.client.destroy();
    await database.stop();
    expect(await processesWith(file)).toEqual([]);
    expect(existsSync(`${file}-wal`)).toBe(false);
    await expect(fetch(database.endpoint)).rejects.toThrow();
  });

  it('does not keep a process running that did not stop it, and ends with that process', async () => {
    const module = new URL('../../local/database.ts', import.meta.url).href;
    const options = JSON.stringify({ accessKeyId: ACCESS_KEY_ID, file });
    const program = `import { startDatabase } from '${module}'; console.log((await startDatabase(${options})).endpoint);`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
    expect(stdout).toMatch(/^http:/);
    await until(async () => (await processesWith(file)).length === 0);
  });

  it('rejects with the output of the database if it does not start', async () => {
    const missing = join(folder, 'no', 'such', 'folder', 'table.sqlite');
    await expect(startDatabase({ accessKeyId: ACCESS_KEY_ID, file: missing })).rejects.toThrow(
      /^The embedded database did not start: exit code 1 \(its last output: .*unable to open database file/,
    );
  });
});

describe('died', () => {
  it.each(['SIGKILL', 'SIGABRT'] as const)('names the signal %s that ended the database', async (signal) => {
    const database = await start();
    process.kill((await databaseProcess(file)).pid, signal);
    expect(await database.died).toBe(
      `The embedded database ended: signal ${signal}. Start again with npm start.`,
    );
    await database.stop();
  });

  it('names the signal that ended the guard process, and the database ends too', async () => {
    const database = await start();
    const { pid, guardPid } = await databaseProcess(file);
    process.kill(guardPid, 'SIGKILL');
    expect(await database.died).toBe(
      'The guard process of the embedded database ended: SIGKILL. Start again with npm start.',
    );
    await until(() => !isRunning(pid));
  });
});

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('binaryPath', () => {
  it('throws a sentence with the alternative on a platform without a binary', () => {
    expect(() => binaryPath('plan9-mips')).toThrow(
      'There is no embedded database for plan9-mips: set DYNAMODB_ENDPOINT to the URL of a DynamoDB, such as DynamoDB Local, and start again.',
    );
  });
});

describe('ensureTable', () => {
  it('creates the table as the data stack does, once', async () => {
    const database = await startDatabase({ accessKeyId: ACCESS_KEY_ID });
    const table = openTable('new', database.endpoint);
    await ensureTable(table);
    await ensureTable(table);
    const { Table } = await table.client.send(new DescribeTableCommand({ TableName: 'new' }));
    expect(Table?.BillingModeSummary?.BillingMode).toBe('PAY_PER_REQUEST');
    expect(Table?.KeySchema).toEqual([
      { AttributeName: 'pk', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ]);
    const { TimeToLiveDescription } = await table.client.send(
      new DescribeTimeToLiveCommand({ TableName: 'new' }),
    );
    expect(TimeToLiveDescription).toMatchObject({ AttributeName: 'ttl', TimeToLiveStatus: 'ENABLED' });
    table.client.destroy();
    await database.stop();
  });
});
