import { isDeepStrictEqual } from 'node:util';
import { type Administration, administration } from '#admin/administration.ts';
import { batchWriteAll } from '#admin/stores/batch-write.ts';
import { forEachPage } from '#admin/stores/scan.ts';
import type { Table } from '#shared/table/client.ts';
import { externalIdKey, TABLE_MARK } from '#shared/table/keys.ts';
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

/** Returns where the external id of a user is stored, by the user item or its phone link. */
const externalKeyText = ({ pk, sk, external_id }: StoredItem): string => {
  const sellerId = String(pk).startsWith('LINKS#') ? String(sk).split('#')[0] : String(pk).split('#')[1];
  return keyText({ ...externalIdKey(String(sellerId), String(external_id)) });
};

/**
 * Returns what a replay makes of the items of the restore point and of those before the damage. A user of both is as at the restore
 * point, without an external id that a user linked since has.
 */
export const stateAfterReplay = (
  snapshot: readonly StoredItem[],
  now: readonly StoredItem[],
): StoredItem[] => {
  const idsIn = (items: readonly StoredItem[]) =>
    new Set(items.filter(({ pk }) => String(pk).startsWith('USERS#')).map(({ id }) => id));
  const [before, still] = [idsIn(snapshot), idsIn(now)];
  const isOfBoth = ({ pk, id }: StoredItem): boolean =>
    /^(?:USERS|LINKS|EXTERNAL)#/.test(String(pk)) && before.has(id) && still.has(id);
  const newer = now.filter((item) => !isOfBoth(item));
  const taken = new Set(newer.map(keyText));
  const users = snapshot.filter((item) => isOfBoth(item) && !taken.has(keyText(item)));
  const released = users.map(({ external_id, ...user }) =>
    external_id === undefined || taken.has(externalKeyText({ ...user, external_id }))
      ? user
      : { ...user, external_id },
  );
  return [...newer, ...released].sort((a, b) => (keyText(a) < keyText(b) ? -1 : 1));
};

/** Deletes items as a faulty program does: without a trace. */
export const damage = (table: Table, items: readonly StoredItem[]): Promise<void> =>
  batchWriteAll(
    table,
    items.map(({ pk, sk }) => ({ DeleteRequest: { Key: { pk, sk } } })),
  );
