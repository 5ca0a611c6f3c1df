import { BatchWriteCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { forgetUse } from '#local/reset.ts';
import {
  buyerKey,
  codeKey,
  limitSortKey,
  limitsPartition,
  personCheckKey,
  phoneSendsKey,
  userKey,
} from '#shared/table/keys.ts';
import { useTable } from '#test/table/use-table.ts';

const table = useTable();

const put = (keys: readonly object[]) =>
  table.client.send(
    new BatchWriteCommand({ RequestItems: { [table.name]: keys.map((Item) => ({ PutRequest: { Item } })) } }),
  );

describe('forgetUse', () => {
  it('deletes every check, code and count, and nothing else', async () => {
    const kept = [buyerKey('p'), userKey('sel_1', 1)];
    await put([...kept, personCheckKey('sel_1', 'h'), codeKey('p', 'sel_1'), phoneSendsKey('p')]);
    for (const start of [0, 25, 50]) {
      await put(
        Array.from({ length: 25 }, (_, index) => ({
          pk: limitsPartition('key_1'),
          sk: limitSortKey('HOUR', start + index),
        })),
      );
    }
    expect(await forgetUse(table)).toBe(78);
    const { Items } = await table.client.send(new ScanCommand({ TableName: table.name }));
    expect(Items).toHaveLength(2);
    expect(Items).toEqual(expect.arrayContaining(kept));
    expect(await forgetUse(table)).toBe(0);
  });
});
