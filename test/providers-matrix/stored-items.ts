import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import type { Table } from '#shared/table/client.ts';

/** How the keys of items begin that expire by themselves: the counts of the rate limiter. */
const EXPIRING = 'LIMIT#';

/** Returns every item that does not expire by itself, sorted. */
export const itemsOf = async (table: Table): Promise<readonly string[]> => {
  const items: string[] = [];
  let from: Record<string, unknown> | undefined;
  do {
    const { Items = [], LastEvaluatedKey } = await table.client.send(
      new ScanCommand({ TableName: table.name, ConsistentRead: true, ExclusiveStartKey: from }),
    );
    const stored = Items.filter(({ pk }) => !pk.startsWith(EXPIRING));
    items.push(...stored.map((item) => JSON.stringify(Object.entries(item).sort())));
    from = LastEvaluatedKey;
  } while (from !== undefined);
  return items.sort();
};
