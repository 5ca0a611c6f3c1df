import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DescribeTableCommand, DescribeTimeToLiveCommand } from '@aws-sdk/client-dynamodb';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { binaryPath, startDatabase } from '#local/database.ts';
import { setLocalCredentials } from '#local/environment.ts';
import { ensureTable } from '#local/table.ts';
import { openTable } from '#shared/table/client.ts';
import { newDataFolder, removeDataFolder } from '#test/service/running-service.ts';

let folder: string;

beforeAll(setLocalCredentials);
beforeEach(async () => {
  folder = await newDataFolder();
});
afterEach(() => removeDataFolder(folder));

describe('startDatabase', () => {
  it('keeps its data in the file from one start to the next', async () => {
    const file = join(folder, 'table.sqlite');
    for (const itemsBefore of [0, 1]) {
      const database = await startDatabase(file);
      const table = openTable('kept', database.endpoint);
      await ensureTable(table);
      const { Table } = await table.client.send(new DescribeTableCommand({ TableName: 'kept' }));
      expect(Table?.ItemCount).toBe(itemsBefore);
      await table.client.send(new PutCommand({ TableName: 'kept', Item: { pk: 'a', sk: 'b' } }));
      table.client.destroy();
      await database.stop();
    }
  });

  it('leaves nothing running and nothing unwritten', async () => {
    const file = join(folder, 'table.sqlite');
    const database = await startDatabase(file);
    const table = openTable('written', database.endpoint);
    await ensureTable(table);
    table.client.destroy();
    await database.stop();
    const { stdout } = await promisify(execFile)('ps', ['-eo', 'args']);
    expect(stdout).not.toContain(file);
    expect(existsSync(`${file}-wal`)).toBe(false);
    await expect(fetch(database.endpoint)).rejects.toThrow();
  });

  it('says what the database said if it does not start', async () => {
    await expect(startDatabase(join(folder, 'no', 'such', 'folder', 'table.sqlite'))).rejects.toThrow(
      /^The embedded database did not start: .*unable to open database file/,
    );
  });
});

describe('binaryPath', () => {
  it('names the way out in one sentence where there is no binary', () => {
    expect(() => binaryPath('plan9-mips')).toThrow(
      'There is no embedded database for plan9-mips: set DYNAMODB_ENDPOINT to the URL of a DynamoDB, such as DynamoDB Local, and start again.',
    );
  });
});

describe('ensureTable', () => {
  it('makes the table as the data stack does, once', async () => {
    const database = await startDatabase();
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
