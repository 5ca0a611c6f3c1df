import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import type { Table } from '#shared/table/client.ts';
import type { StoredItem } from '#shared/table/writes.ts';

export const keyText = ({ pk, sk }: StoredItem): string => `${pk} ${sk}`;

/** Returns all items of a table, sorted by their keys. */
export const itemsIn = async ({ client, name: TableName }: Table): Promise<StoredItem[]> => {
  const items: StoredItem[] = [];
  let ExclusiveStartKey: StoredItem | undefined;
  do {
    const page = await client.send(new ScanCommand({ TableName, ExclusiveStartKey, ConsistentRead: true }));
    items.push(...(page.Items ?? []));
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey !== undefined);
  return items.sort((a, b) => (keyText(a) < keyText(b) ? -1 : 1));
};
