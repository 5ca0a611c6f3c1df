import { join } from 'node:path';
import { ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { type Database, startDatabase } from '#local/database.ts';
import { setLocalCredentials } from '#local/environment.ts';
import { openTable } from '#shared/table/client.ts';
import { newDataFolder, removeDataFolder } from '#test/service/running-service.ts';
import { processesWith } from './database-process.ts';

const ACCESS_KEY_ID = 'KeyOfThisRun';

describe('the gate of the embedded database', () => {
  const SIGNED = {
    Authorization: `AWS4-HMAC-SHA256 Credential=${ACCESS_KEY_ID}/20261121/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=00`,
    'X-Amz-Date': '20261121T000000Z',
  };
  let database: Database;
  let folder: string;
  let file: string;

  beforeEach(async () => {
    setLocalCredentials(ACCESS_KEY_ID);
    folder = await newDataFolder();
    file = join(folder, 'table.sqlite');
    database = await startDatabase({ accessKeyId: ACCESS_KEY_ID, file });
  });
  afterEach(async () => {
    await database.stop();
    await removeDataFolder(folder);
  });

  const listTables = (headers: Readonly<Record<string, string>>) =>
    fetch(database.endpoint, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/x-amz-json-1.0',
        'X-Amz-Target': 'DynamoDB_20120810.ListTables',
        ...headers,
      },
      body: '{}',
    });

  it('lets a request through that is signed with the access key of the run', async () => {
    const response = await listTables(SIGNED);
    expect(await response.json()).toEqual({ TableNames: [] });
  });

  it.each([
    ['without a signature', {}],
    [
      'signed with another access key',
      { ...SIGNED, Authorization: SIGNED.Authorization.replace(ACCESS_KEY_ID, 'local') },
    ],
    ['of a web page', { ...SIGNED, Origin: 'https://example.com' }],
  ])('refuses a request %s', async (_what, headers) => {
    const response = await listTables(headers);
    expect([response.status, await response.json()]).toEqual([
      400,
      expect.objectContaining({ __type: 'com.amazon.coral.service#UnrecognizedClientException' }),
    ]);
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
  });

  it("refuses a browser's preflight request", async () => {
    const response = await fetch(database.endpoint, {
      method: 'OPTIONS',
      headers: { Origin: 'https://example.com', 'Access-Control-Request-Method': 'POST' },
    });
    expect(response.status).toBe(400);
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
  });

  it('makes the SDK throw UnrecognizedClientException with another access key', async () => {
    setLocalCredentials('AnotherKey');
    const { client } = openTable('any', database.endpoint);
    await expect(client.send(new ListTablesCommand({}))).rejects.toMatchObject({
      name: 'UnrecognizedClientException',
    });
    client.destroy();
  });

  it('listens at another address than the database itself', async () => {
    const [line = ''] = await processesWith(file);
    const [, host, port] = /--host (\S+) --port (\d+)/.exec(line) ?? [];
    expect(new URL(database.endpoint).host).not.toBe(`${host}:${port}`);
  });
});
