import { isDeepStrictEqual } from 'node:util';
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

/** The attributes that a faulty program overwrites with something else. */
const WRONG: Readonly<Record<string, readonly string[]>> = {
  USERS: ['display_name', 'external_id', 'phone_hash', 'person_hash', 'last_event', 'id'],
  PERSON: ['user_id', 'ordinal', 'phone_hash'],
  LINKS: ['user_id'],
  EXTERNAL: ['user_id'],
};

const wrongValueOf = (item: StoredItem, attribute: string): unknown => {
  // An id in the form of one, which no user can have.
  if (attribute === 'id') return `usr_${'z'.repeat(22)}`;
  return typeof item[attribute] === 'number' ? 9_999_999 : `wrong-${attribute}`;
};

/** What damage can do to one item; undefined: nothing that a restore could set right. `number` chooses. */
const damaged = (
  item: StoredItem,
  old: StoredItem | undefined,
  number: number,
): StoredItem | 'deleted' | undefined => {
  const kind = String(item.pk).split('#')[0] as string;
  const isSame = isDeepStrictEqual(old, item);
  const isPointer = ['PERSON', 'LINKS', 'EXTERNAL', 'KEYID'].includes(kind);
  if (old === undefined && !isPointer) return undefined;
  if (number % 3 === 0) return 'deleted';
  if (number % 3 === 1) return isSame || kind === 'SECRET' ? undefined : old;
  const attribute = WRONG[kind]?.[number % (WRONG[kind]?.length ?? 1)];
  // A wrong value under the number of a later event cannot be told from that event's.
  if (attribute === undefined || (kind === 'USERS' && !isSame)) return undefined;
  return { ...item, [attribute]: wrongValueOf(item, attribute) };
};

/** Damages the items that the numbers choose, without a trace. */
export const damage = async (
  table: Table,
  {
    snapshot,
    now,
    numbers,
  }: { snapshot: readonly StoredItem[]; now: readonly StoredItem[]; numbers: readonly number[] },
): Promise<readonly StoredItem[]> => {
  const past = new Map(snapshot.map((item) => [keyText(item), item]));
  const hit = now
    .filter(({ pk }) => KINDS.test(String(pk)))
    .flatMap((item, index) => {
      const number = numbers[index % Math.max(1, numbers.length)] ?? 0;
      const result = number % 2 === 0 ? undefined : damaged(item, past.get(keyText(item)), (number - 1) / 2);
      return result === undefined ? [] : [{ item, result }];
    });
  await deleteAll(
    table,
    hit.filter(({ result }) => result === 'deleted').map(({ item }) => item),
  );
  await putAll(
    table,
    hit.flatMap(({ result }) => (result === 'deleted' ? [] : [result])),
  );
  return hit.map(({ item }) => item);
};
