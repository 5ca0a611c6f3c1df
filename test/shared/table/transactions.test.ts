import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { transact } from '#shared/table/transactions.ts';
import { type EmbeddedTable, startEmbeddedTable } from '#test/table/embedded-table.ts';

let table: EmbeddedTable;
beforeAll(async () => {
  table = await startEmbeddedTable();
});
afterAll(() => table.stop());

const key = (name: string) => ({ pk: name, sk: 'ITEM' });
const putNew = (name: string) => ({
  Put: { TableName: table.name, Item: key(name), ConditionExpression: 'attribute_not_exists(pk)' },
});
const isThere = async (name: string) =>
  (await table.client.send(new GetCommand({ TableName: table.name, Key: key(name), ConsistentRead: true })))
    .Item !== undefined;

it('writes all, or nothing and says which condition failed', async () => {
  await table.client.send(new PutCommand({ TableName: table.name, Item: key('taken') }));
  expect(await transact(table, [putNew('a'), putNew('b')])).toBe(true);
  expect(await transact(table, [putNew('c'), putNew('taken')])).toMatchObject([
    { code: 'None' },
    { code: 'ConditionalCheckFailed' },
  ]);
  expect([await isThere('a'), await isThere('b'), await isThere('c')]).toEqual([true, true, false]);
});

it('tries again when it merely met another transaction, and not when a condition failed', async () => {
  let calls = 0;
  const conflict = new TransactionCanceledException({
    message: 'conflict',
    $metadata: {},
    CancellationReasons: [{ Code: 'TransactionConflict' }],
  });
  const client = {
    send: async () => {
      calls += 1;
      return calls < 3 ? Promise.reject(conflict) : {};
    },
  } as unknown as DynamoDBDocumentClient;
  expect(await transact({ client }, [putNew('d')])).toBe(true);
  expect(calls).toBe(3);
});
