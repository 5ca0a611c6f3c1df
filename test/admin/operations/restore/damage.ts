import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { deleteAll } from '#admin/stores/batches.ts';
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

const KINDS = /^(?:USERS|PERSON|LINKS|EXTERNAL|BUYER)#/;

/** What becomes of an item. */
export type Damage = 'none' | 'lost';

/** Loses items of users and registrations, by the list that begins again at its end. Returns those that are lost. */
export const damage = async (
  table: Table,
  { now, list }: { readonly now: readonly StoredItem[]; readonly list: readonly Damage[] },
): Promise<readonly StoredItem[]> => {
  const lost = now
    .filter(({ pk }) => KINDS.test(String(pk)))
    .filter((_, index) => list[index % list.length] === 'lost');
  await deleteAll(table, lost);
  return lost;
};
