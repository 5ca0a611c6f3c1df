import { DeleteCommand, PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { type Administration, administration } from '#admin/administration.ts';
import type { Table } from '#shared/table/client.ts';
import { TABLE_MARK } from '#shared/table/keys.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import type { TestAdministration } from './use-administration.ts';

/** Returns all items of a small table, sorted by their keys. */
export const itemsIn = async ({ client, name: TableName }: Table): Promise<StoredItem[]> => {
  const { Items = [] } = await client.send(new ScanCommand({ TableName, ConsistentRead: true }));
  const keyOf = ({ pk, sk }: StoredItem) => `${pk} ${sk}`;
  return Items.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
};

/** The items without the mark of the table and the audit records of replays, in which a replayed table differs from the old one. */
export const comparable = (items: readonly StoredItem[]): StoredItem[] =>
  items.filter(({ pk, action }) => pk !== TABLE_MARK.pk && action !== 'table.replayed');

/** Writes items without conditions. */
export const putAll = async ({ client, name: TableName }: Table, items: readonly StoredItem[]) => {
  for (const Item of items) await client.send(new PutCommand({ TableName, Item }));
};

/** Writes items as a restore does: without conditions, into a table with another id. Returns its administration. */
export const restoredFrom = async (
  { admin, newTable }: TestAdministration,
  snapshot: readonly StoredItem[],
): Promise<Administration> => {
  const table = await newTable();
  await putAll(table, snapshot);
  return administration({ ...admin, table });
};

/** Deletes items as a faulty program does: without a trace. */
export const damage = async ({ client, name: TableName }: Table, items: readonly StoredItem[]) => {
  for (const { pk, sk } of items) await client.send(new DeleteCommand({ TableName, Key: { pk, sk } }));
};
