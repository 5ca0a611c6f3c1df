import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import { binaryPath, ensureTable, startDatabase } from '#local/database.ts';
import { setLocalCredentials } from '#local/environment.ts';
import { openTable } from '#shared/table/client.ts';
import { connectTo, otherAddresses } from './other-addresses.ts';

beforeEach(setLocalCredentials);

describe('startDatabase', () => {
  it('is unreachable at every other address of the machine', async () => {
    const database = await startDatabase();
    const port = Number(new URL(database.endpoint).port);
    await connectTo('127.0.0.1', port);
    for (const host of otherAddresses()) await expect(connectTo(host, port)).rejects.toThrow('ECONNREFUSED');
    await database.stop();
  });
});

describe('binaryPath', () => {
  it('throws a sentence with the alternative on a platform without a binary', () => {
    expect(() => binaryPath('plan9-mips')).toThrow(
      'There is no embedded database for plan9-mips: set DYNAMODB_ENDPOINT to the URL of a DynamoDB, such as DynamoDB Local, and start again.',
    );
  });
});

describe('ensureTable', () => {
  it('creates the table with the keys that the data stack gives it, once', async () => {
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
    table.client.destroy();
    await database.stop();
  });
});
