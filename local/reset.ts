import { BatchWriteCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import type { Table } from '#shared/table/client.ts';
import type { ItemKey, ItemPrefix } from '#shared/table/keys.ts';

/** What tests leave behind: the checks of persons, the codes and locks of phones, the counts of limits. Users, buyers and keys stay. */
const FORGOTTEN = ['CHECK#', 'CODE#', 'LIMIT#'] as const satisfies readonly ItemPrefix[];

/** The most items that one BatchWriteItem takes. */
const BATCH_SIZE = 25;

/** Deletes every check, code and count of the table. Returns how many items they were. */
export const forgetUse = async (table: Table): Promise<number> => {
  let deleted = 0;
  for (const prefix of FORGOTTEN) {
    for await (const keys of keysWith(table, prefix)) {
      for (let start = 0; start < keys.length; start += BATCH_SIZE) {
        await deleteAll(table, keys.slice(start, start + BATCH_SIZE));
      }
      deleted += keys.length;
    }
  }
  return deleted;
};

async function* keysWith({ client, name }: Table, prefix: ItemPrefix): AsyncGenerator<ItemKey[]> {
  let start: Record<string, unknown> | undefined;
  do {
    const page = await client.send(
      new ScanCommand({
        TableName: name,
        FilterExpression: 'begins_with(pk, :prefix)',
        ExpressionAttributeValues: { ':prefix': prefix },
        ProjectionExpression: 'pk, sk',
        ConsistentRead: true,
        ExclusiveStartKey: start,
      }),
    );
    yield (page.Items ?? []) as ItemKey[];
    start = page.LastEvaluatedKey;
  } while (start !== undefined);
}

const deleteAll = async ({ client, name }: Table, keys: readonly ItemKey[]): Promise<void> => {
  let requests = keys.map((Key) => ({ DeleteRequest: { Key } }));
  while (requests.length > 0) {
    const { UnprocessedItems } = await client.send(
      new BatchWriteCommand({ RequestItems: { [name]: requests } }),
    );
    requests = (UnprocessedItems?.[name] ?? []) as typeof requests;
  }
};
