import { isDeepStrictEqual } from 'node:util';
import { type Administration, administration } from '#admin/administration.ts';
import { batchWriteAll } from '#admin/stores/batch-write.ts';
import { forEachPage } from '#admin/stores/scan.ts';
import type { Table } from '#shared/table/client.ts';
import { TABLE_MARK } from '#shared/table/keys.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import type { TestAdministration } from './use-administration.ts';

const keyText = ({ pk, sk }: StoredItem): string => `${pk} ${sk}`;

/** Returns all items of a table, sorted by their keys. */
export const itemsIn = async (table: Table): Promise<StoredItem[]> => {
  const items: StoredItem[] = [];
  await forEachPage(table, async (page) => void items.push(...page));
  return items.sort((a, b) => (keyText(a) < keyText(b) ? -1 : 1));
};

/** The items without the mark of the table and the audit records of replays, in which a replayed table differs from the old one. */
export const comparable = (items: readonly StoredItem[]): StoredItem[] =>
  items.filter(({ pk, action }) => pk !== TABLE_MARK.pk && action !== 'table.replayed');

/** Writes items without conditions. */
export const putAll = (table: Table, items: readonly StoredItem[]): Promise<void> =>
  batchWriteAll(
    table,
    items.map((Item) => ({ PutRequest: { Item } })),
  );

/** Writes items as a restore does: without conditions, into a table with another id. Returns its administration. */
export const restoredFrom = async (
  { admin, newTable }: TestAdministration,
  snapshot: readonly StoredItem[],
): Promise<Administration> => {
  const table = await newTable();
  await putAll(table, snapshot);
  return administration({ ...admin, table });
};

const DAMAGED = /^(?:USERS|PERSON|LINKS|EXTERNAL|BUYER)#/;

/** Returns the items of users and buyers that are in both states: a restore can bring them back. */
export const damageable = (snapshot: readonly StoredItem[], now: readonly StoredItem[]): StoredItem[] => {
  const current = new Map(now.map((item) => [keyText(item), item]));
  return snapshot.filter(
    (item) =>
      DAMAGED.test(String(item.pk)) &&
      item.removed_at === undefined &&
      isDeepStrictEqual(item, current.get(keyText(item))),
  );
};

/** Deletes items as a faulty program does: without a trace. */
export const damage = (table: Table, items: readonly StoredItem[]): Promise<void> =>
  batchWriteAll(
    table,
    items.map(({ pk, sk }) => ({ DeleteRequest: { Key: { pk, sk } } })),
  );
