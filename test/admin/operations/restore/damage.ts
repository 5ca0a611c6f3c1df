import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { deleteAll, putAll } from '#admin/stores/batches.ts';
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

const KINDS = /^(?:USERS|PERSON|LINKS|EXTERNAL|BUYER|SELLER|SECRET|KEYID|SELLERS)\b/;

/** What becomes of an item: it is lost, is as it was in the snapshot again, or has only its keys. */
export type Damage = 'none' | 'lost' | 'older' | 'emptied';

/** Items that point to another one follow from it, so a restore can put them although the snapshot lacks them. */
const POINTERS = /^(?:PERSON|LINKS|EXTERNAL|KEYID)\b/;

/** Damages the items one after the other, without a trace, by the list that begins again at its end. Returns those that it has hit. */
export const damage = async (
  table: Table,
  {
    snapshot,
    now,
    list,
  }: { snapshot: readonly StoredItem[]; now: readonly StoredItem[]; list: readonly Damage[] },
): Promise<readonly StoredItem[]> => {
  const past = new Map(snapshot.map((item) => [keyText(item), item]));
  const hit = now
    .filter(({ pk }) => KINDS.test(String(pk)))
    .map((item, index) => ({ item, old: past.get(keyText(item)), kind: list[index % list.length] ?? 'none' }))
    .filter(
      ({ item, old, kind }) => kind !== 'none' && (old !== undefined || POINTERS.test(String(item.pk))),
    );
  const of = (wanted: Damage) => hit.filter(({ kind }) => kind === wanted);
  await deleteAll(
    table,
    of('lost').map(({ item }) => item),
  );
  await putAll(table, [
    ...of('older').flatMap(({ old }) => (old === undefined ? [] : [old])),
    ...of('emptied').map(({ item: { pk, sk } }) => ({ pk, sk })),
  ]);
  return hit.map(({ item }) => item);
};
