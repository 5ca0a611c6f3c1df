import { isDeepStrictEqual } from 'node:util';
import type { Administration } from '#admin/administration.ts';
import { step } from '#admin/administration.ts';
import { refusal } from '#admin/refusal.ts';
import { batchGetAll } from '#admin/stores/batch-get.ts';
import { batchWriteAll } from '#admin/stores/batch-write.ts';
import { forEachPage } from '#admin/stores/scan.ts';
import { sellerStore } from '#admin/stores/seller-store.ts';
import { markReplayed, requireUnreplayed } from '#admin/stores/table-mark.ts';
import { DEPLOYMENT_SUBJECT } from '#shared/audit.ts';
import type { Table } from '#shared/table/client.ts';
import { auditPartition } from '#shared/table/keys.ts';
import { queryAll } from '#shared/table/reads.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { userRemovals } from '#shared/users/remove-user.ts';
import { eraseLink, linksOf } from './erase-buyer.ts';
import { releaseExternalIds } from './release-external-ids.ts';
import {
  isCopied,
  isDeletedIfGone,
  isExternalId,
  isSeller,
  keyOf,
  linkedBefore,
  nameOf,
  newestSeller,
  type RemovedBuyers,
  removedBuyersIn,
  sellerIdOf,
} from './replay-rules.ts';

/** How long a removal that conflicts with those of other users of the seller is tried again. */
const REMOVAL_TIMEOUT_MS = 60_000;

/** What replay changed in the restored table: numbers of items by name. */
export interface Replayed {
  readonly removedUsers: number;
  readonly copied: Readonly<Record<string, number>>;
  readonly deleted: Readonly<Record<string, number>>;
}

const counter = () => {
  const counts: Record<string, number> = {};
  return {
    counts,
    add(items: readonly StoredItem[]): void {
      for (const item of items) counts[nameOf(item)] = (counts[nameOf(item)] ?? 0) + 1;
    },
  };
};

/** Returns the items of a table by their keys. */
const itemsByKey = async (table: Table, items: readonly StoredItem[]) => {
  const found = await batchGetAll(table, items.map(keyOf));
  const byKey = new Map(found.map((item) => [JSON.stringify(keyOf(item)), item]));
  return (item: StoredItem): StoredItem | undefined => byKey.get(JSON.stringify(keyOf(item)));
};

/** Puts the items that the table does not have in this form, and returns them. */
const putMissing = async (table: Table, items: readonly StoredItem[]): Promise<StoredItem[]> => {
  const stored = await itemsByKey(table, items);
  const missing = items.filter((item) => !isDeepStrictEqual(item, stored(item)));
  await batchWriteAll(
    table,
    missing.map((Item) => ({ PutRequest: { Item } })),
  );
  return missing;
};

/** Removes each user again whose tombstone the old table has. Returns how many the restored table still had. */
const removeAgain = async (old: Table, restored: Table, isLinkedBefore: (item: StoredItem) => boolean) => {
  const { removeUser } = userRemovals(restored);
  let removed = 0;
  const removeOne = async (tombstone: StoredItem): Promise<void> => {
    const result = await removeUser(sellerIdOf(tombstone), String(tombstone.id), {
      removedAt: String(tombstone.removed_at),
      // The event of the old table replaces that of this removal, with its own reason.
      reason: 'operator',
      deadlineMs: performance.now() + REMOVAL_TIMEOUT_MS,
    });
    if (result === 'removed') removed += 1;
  };
  await forEachPage(
    old,
    async (items) => {
      for (const tombstone of items.filter(isLinkedBefore)) await removeOne(tombstone);
    },
    'removed_at',
  );
  return removed;
};

/** Copies the items of the old table that count more. Returns their numbers, and the sellers, which are to be written last. */
const copyItems = async (old: Table, restored: Table, isLinkedBefore: (item: StoredItem) => boolean) => {
  const copied = counter();
  const sellers: StoredItem[] = [];
  await forEachPage(old, async (items) => {
    sellers.push(...items.filter(isSeller));
    const wanted = items.filter((item) => isCopied(isLinkedBefore, item));
    const claims = wanted.filter(isExternalId);
    await releaseExternalIds(restored, claims, await itemsByKey(restored, claims));
    copied.add(await putMissing(restored, wanted));
  });
  return { copied, sellers };
};

/** Deletes what was deleted since the restore point. */
const deleteGone = async (old: Table, restored: Table, removed: RemovedBuyers) => {
  const deleted = counter();
  await forEachPage(restored, async (items) => {
    const candidates = items.filter((item) => isDeletedIfGone(item, removed));
    const kept = await itemsByKey(old, candidates);
    const gone = candidates.filter((item) => kept(item) === undefined);
    await batchWriteAll(
      restored,
      gone.map((item) => ({ DeleteRequest: { Key: keyOf(item) } })),
    );
    deleted.add(gone);
  });
  return deleted;
};

/**
 * Erases the users of buyers who were erased since. Most were removed by their tombstones; a user that the damage had deleted before the
 * erasure has none. It follows the sellers, whose counts it changes.
 */
const eraseAgain = async (admin: Administration, old: Table, { byHash }: RemovedBuyers): Promise<void> => {
  for (const [hash, erasedAt] of byHash) {
    const links = await linksOf(admin, [hash]);
    const kept = await itemsByKey(
      old,
      links.map(({ key }) => ({ ...key })),
    );
    for (const link of links) {
      const isErased = link.createdAt < erasedAt && kept({ ...link.key }) === undefined;
      if (isErased) await eraseLink(admin, link);
    }
  }
};

const writeSellers = async (restored: Table, sellers: readonly StoredItem[]): Promise<StoredItem[]> => {
  const stored = await itemsByKey(restored, sellers);
  return putMissing(
    restored,
    sellers.map((seller) => newestSeller(seller, stored(seller))),
  );
};

/** Throws unless the table was restored and not replayed, and the old one has sellers of it: another stage's table would replace its keys. */
const requireOldTable = async ({ table, sellers }: Administration, old: Table) => {
  await requireUnreplayed(table);
  const restored = await sellers.list();
  const ids = new Set((await sellerStore(old).list()).map(({ seller_id }) => seller_id));
  if (restored.some(({ seller_id }) => ids.has(seller_id))) return restored;
  throw refusal('bad_input', `The tables ${old.name} and ${table.name} have no seller in common.`);
};

/**
 * Brings everything but the users of the restore point to the state of the old table, from which the table was restored: sellers, keys,
 * secrets, audit records, codes and limits are copied; removals and erasures are repeated; users who were linked since are copied. Nobody
 * may write to either table meanwhile. After an interruption, run it again. Throws `already_replayed`, or `bad_input` for a wrong table.
 */
export const replay = async (admin: Administration, old: Table): Promise<Replayed> => {
  const restored = admin.table;
  const isLinkedBefore = linkedBefore(await requireOldTable(admin, old));
  const removedUsers = await step(admin, 'replay: remove users again', () =>
    removeAgain(old, restored, isLinkedBefore),
  );
  // After the removals: a person who was linked again has one person item, that of the later link.
  const { copied, sellers } = await step(admin, 'replay: copy items', () =>
    copyItems(old, restored, isLinkedBefore),
  );
  const removed = removedBuyersIn(await queryAll(old, { pk: auditPartition(DEPLOYMENT_SUBJECT) }));
  const deleted = await step(admin, 'replay: delete items', () => deleteGone(old, restored, removed));
  copied.add(await step(admin, 'replay: write the sellers', () => writeSellers(restored, sellers)));
  await step(admin, 'replay: erase users again', () => eraseAgain(admin, old, removed));
  await finishReplay(admin, { from: old.name, removed_users: removedUsers });
  return { removedUsers, copied: copied.counts, deleted: deleted.counts };
};

/** Makes API Gateway forget the decisions of the table before the replay, and marks the table as replayed. */
export const finishReplay = async (
  admin: Administration,
  details: Readonly<Record<string, string | number>>,
): Promise<void> => {
  await step(admin, 'replay: flush the authorizer cache', () => admin.usagePlans.flushAuthorizerCache());
  await step(admin, 'replay: write the audit record', () =>
    admin.audit.write(admin.record({ action: 'table.replayed', details })),
  );
  await step(admin, 'replay: mark the table', () => markReplayed(admin.table));
};
