import { PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { getItem } from '#shared/table/reads.ts';
import { conditionalWrite, isConditionFailure, transactWrite } from '#shared/table/writes.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import { useTable } from '#test/table/use-table.ts';

const table = useTable();
const stored = { pk: 'there', sk: 'there', count: 7, names: ['a', 'b'] };

beforeAll(async () => {
  await table.client.send(new PutCommand({ TableName: table.name, Item: stored }));
});

/** Increments a count that is below one. The stored item's count never is. */
const increment = (pk: string, returned: 'ALL_OLD' | 'NONE' = 'ALL_OLD') => ({
  TableName: table.name,
  Key: { pk, sk: pk },
  UpdateExpression: 'ADD #count :one',
  ConditionExpression: '#count < :one',
  ExpressionAttributeNames: { '#count': 'count' },
  ExpressionAttributeValues: { ':one': 1 },
  ReturnValuesOnConditionCheckFailure: returned,
});

const incrementAlone = (pk: string, returned?: 'ALL_OLD' | 'NONE') =>
  conditionalWrite(table.client.send(new UpdateCommand(increment(pk, returned))));

describe('conditionalWrite', () => {
  it('returns the output of a write that was made', async () => {
    expect(await conditionalWrite(Promise.resolve('output'))).toEqual({ written: true, value: 'output' });
  });

  it('returns the item as it was when the condition fails', async () => {
    expect(await incrementAlone('there')).toEqual({ written: false, reason: stored });
  });

  it.each([
    ['there is no item', 'nowhere', 'ALL_OLD'],
    ['the write does not ask for the item', 'there', 'NONE'],
  ] as const)('returns no item when %s', async (_case, pk, returned) => {
    expect(await incrementAlone(pk, returned)).toEqual({ written: false, reason: undefined });
  });

  it('throws every other error unchanged', async () => {
    await expect(conditionalWrite(Promise.reject(new Error('unreachable')))).rejects.toThrow('unreachable');
  });
});

describe('transactWrite', () => {
  it('returns one reason per item, in their order, with the item as it was', async () => {
    const Put = { TableName: table.name, Item: { pk: 'new', sk: 'new' } };
    const result = await transactWrite(table, [{ Put }, { Update: increment('there') }]);
    expect(result).toEqual({
      written: false,
      reason: [
        { code: 'None', item: undefined },
        { code: 'ConditionalCheckFailed', item: stored },
      ],
    });
  });

  it('writes all items when no condition fails', async () => {
    const Put = { TableName: table.name, Item: { pk: 'other', sk: 'other' } };
    expect(await transactWrite(table, [{ Put }])).toEqual({ written: true, value: undefined });
  });

  it('sends a transaction whose response was lost once more with the same token, so that it is made once', async () => {
    const tokens: unknown[] = [];
    const lossy = interceptedTable(table, async ({ input }, send) => {
      tokens.push(input.ClientRequestToken);
      const result = await send();
      if (tokens.length === 1) throw Object.assign(new Error('no response'), { name: 'TimeoutError' });
      return result;
    });
    const Key = { pk: 'counted', sk: 'counted' };
    const count = {
      ExpressionAttributeNames: { '#count': 'count' },
      ExpressionAttributeValues: { ':one': 1 },
    };
    const Update = { TableName: table.name, Key, UpdateExpression: 'ADD #count :one', ...count };
    expect(await transactWrite(lossy, [{ Update }])).toEqual({ written: true, value: undefined });
    expect(await getItem(table, Key)).toMatchObject({ count: 1 });
    expect([tokens.length, new Set(tokens).size]).toEqual([2, 1]);
    await transactWrite(lossy, [{ Update }]);
    expect(new Set(tokens).size).toBe(2);
  });

  it('throws a validation error instead of returning it as a reason', async () => {
    const Put = { TableName: table.name, Item: { pk: '', sk: 'an empty key is not valid' } };
    await expect(transactWrite(table, [{ Put }])).rejects.toThrow();
  });

  it('throws when an item of the transaction is throttled', async () => {
    const { TransactionCanceledException } = await import('@aws-sdk/client-dynamodb');
    const throttled = new TransactionCanceledException({
      message: 'throttled',
      $metadata: {},
      CancellationReasons: [{ Code: 'ThrottlingError' }],
    });
    const client = { send: () => Promise.reject(throttled) } as never;
    await expect(transactWrite({ client }, [])).rejects.toBe(throttled);
  });
});

describe('isConditionFailure', () => {
  it.each([
    ['ConditionalCheckFailed', true],
    ['TransactionConflict', false],
    ['None', false],
  ])('is %s -> %s', (code, expected) => {
    expect(isConditionFailure({ code, item: undefined })).toBe(expected);
  });
});
