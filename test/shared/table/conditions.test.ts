import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { PutCommand, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { cancellationReasons, whenCondition } from '#shared/table/conditions.ts';
import { type EmbeddedTable, startEmbeddedTable } from '#test/table/embedded-table.ts';

let table: EmbeddedTable;

beforeAll(async () => {
  table = await startEmbeddedTable();
  const Item = { pk: 'there', sk: 'there', count: 7, names: ['a', 'b'] };
  await table.client.send(new PutCommand({ TableName: table.name, Item }));
});
afterAll(() => table.stop());

/** Raises a count if it is below one: on the item that is there, it never is. */
const raise = (pk: string, returned: 'ALL_OLD' | 'NONE' = 'ALL_OLD') =>
  new UpdateCommand({
    TableName: table.name,
    Key: { pk, sk: pk },
    UpdateExpression: 'ADD #count :one',
    ConditionExpression: '#count < :one',
    ExpressionAttributeNames: { '#count': 'count' },
    ExpressionAttributeValues: { ':one': 1 },
    ReturnValuesOnConditionCheckFailure: returned,
  });

const cancelled = (
  ...items: ConstructorParameters<typeof TransactWriteCommand>[0]['TransactItems'] & object
) => table.client.send(new TransactWriteCommand({ TransactItems: items })).catch((error: unknown) => error);

describe('whenCondition', () => {
  it('gives what the write answered', async () => {
    expect(await whenCondition(Promise.resolve('answer'))).toEqual({ done: 'answer' });
  });

  it('gives the item as it was, as plain values, if the condition failed', async () => {
    expect(await whenCondition(table.client.send(raise('there')))).toEqual({
      was: { pk: 'there', sk: 'there', count: 7, names: ['a', 'b'] },
    });
  });

  it.each([
    ['there is no item', 'nowhere', 'ALL_OLD'],
    ['the write did not ask for it', 'there', 'NONE'],
  ] as const)('gives no item if %s', async (_case, pk, returned) => {
    expect(await whenCondition(table.client.send(raise(pk, returned)))).toEqual({ was: undefined });
  });

  it('throws every other error as it is', async () => {
    const nonsense = new UpdateItemCommand({ TableName: table.name, Key: {}, UpdateExpression: 'nonsense' });
    await expect(whenCondition(table.client.send(nonsense as never))).rejects.toMatchObject({
      name: 'ValidationException',
    });
    await expect(whenCondition(Promise.reject(new Error('away')))).rejects.toThrow('away');
  });
});

describe('cancellationReasons', () => {
  it('gives one reason an action, in their order, with the item as it was', async () => {
    const Put = { TableName: table.name, Item: { pk: 'new', sk: 'new' } };
    const { input } = raise('there');
    const error = await cancelled({ Put }, { Update: { ...input, UpdateExpression: 'ADD #count :one' } });
    expect(cancellationReasons(error)).toEqual([
      { code: 'None', was: undefined },
      { code: 'ConditionalCheckFailed', was: { pk: 'there', sk: 'there', count: 7, names: ['a', 'b'] } },
    ]);
  });

  it('knows none of any other error', () => {
    expect(cancellationReasons(new Error('away'))).toBeUndefined();
    expect(cancellationReasons(undefined)).toBeUndefined();
  });
});
