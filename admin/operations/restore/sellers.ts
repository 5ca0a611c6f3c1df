/** The sellers, keys and buyers in a restore: what is missing comes back, unless the audit says otherwise. */
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { type Administration, requireSeller } from '#admin/administration.ts';
import { revokeKey } from '#admin/operations/revoke-key.ts';
import { setSellerStatus } from '#admin/operations/set-seller-status.ts';
import { apiKeyStore } from '#admin/stores/api-key-store.ts';
import { deleteAll, forEachPage, putAll } from '#admin/stores/batches.ts';
import {
  type Audit,
  copyHistory,
  eventsAfter,
  putMissing,
  readFloor,
  readItems,
} from '#admin/stores/restored-items.ts';
import type { SellerStatus } from '#admin/stores/seller-store.ts';
import { ifAbsent, transact } from '#admin/stores/transactions.ts';
import {
  type ApiKey,
  apiKeySchema,
  type KeySecret,
  keySecretSchema,
  secretUpdates,
} from '#shared/api-keys/api-key-item.ts';
import { setting, settingIfEqual } from '#shared/table/conditions.ts';
import {
  API_KEY_PREFIX,
  apiKeyKey,
  keyIdKey,
  secretKey,
  sellerKey,
  sellerListKey,
} from '#shared/table/keys.ts';
import { getItem, queryAll } from '#shared/table/reads.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import type { Restoring } from './restoring.ts';
import {
  isOlder,
  isRevoked,
  type LiveSecrets,
  raisedCounts,
  restoredKey,
  restoredSeller,
  statusIn,
} from './rules.ts';
import type { SellerToRestore } from './users.ts';

/** Raises counts that are too low, unless they have changed since. */
const raiseCounts = ({ table }: Administration, live: StoredItem, counts: Record<string, unknown>) => {
  const { seller_id, event_count } = live;
  const update =
    event_count === undefined ? setting(counts) : settingIfEqual(counts, ['event_count', event_count]);
  return transact(table, [
    { Update: { TableName: table.name, Key: sellerKey(String(seller_id)), ...update } },
  ]);
};

const isDifferent = (old: StoredItem, live: StoredItem): boolean =>
  ['name', 'status', 'message_templates'].some((name) => !isDeepStrictEqual(old[name], live[name]));

/** Brings back a seller that is missing, with its past; raises the counts of one that has them too low. */
export const restoreSeller = async (
  restoring: Restoring,
  sellerId: string,
  { all, since }: Audit,
): Promise<SellerToRestore> => {
  const { admin, source, isDry, report } = restoring;
  const { table } = admin;
  // A seller that was created since has no past: only what is derived from its users comes back.
  const old = (await getItem(source, sellerKey(sellerId))) ?? {};
  if (!isDry && (await getItem(table, sellerKey(sellerId))) === undefined) {
    await copyHistory(source, table, sellerId, admin.clock());
  }
  const floor = await readFloor(table, sellerId);
  const events = eventsAfter(table, sellerId, Number(old.event_count ?? 0));
  await events.readTo(floor.event_count);
  const proved = { ...floor, user_count: Math.max(floor.user_count, events.highestOrdinal()) };
  const present = await getItem(table, sellerKey(sellerId));
  const changes = since?.filter(({ action }) => action.startsWith('seller.')) ?? [];
  const seller = present ?? restoredSeller(old, changes, proved);
  if (present === undefined) {
    report.count('sellers');
    const record = admin.record({ action: 'seller.restored', seller_id: sellerId });
    if (!isDry)
      await transact(table, [{ Put: { TableName: table.name, Item: seller, ...ifAbsent } }], record);
  }
  await listSeller(restoring, { ...seller, ...old });
  const isUnexplained =
    present === undefined
      ? changes.some(({ action }) => action === 'seller.templates_set')
      : old.seller_id !== undefined && changes.length === 0 && isDifferent(old, present);
  if (isUnexplained) report.list('seller_differs', sellerId, sellerId);
  if (seller.status === 'active' && statusIn(all) === 'suspended') {
    report.list('seller_suspended_again', sellerId, sellerId);
    if (!isDry) await setSellerStatus(admin, sellerId, 'suspended');
  }
  const counts = raisedCounts(seller, proved);
  if (counts !== undefined) {
    report.count('counts raised');
    if (!isDry) await raiseCounts(admin, { ...seller, seller_id: sellerId }, { ...counts });
  }
  return { sellerId, old, live: { ...seller, ...counts }, events };
};

/** Puts a seller into the list of all sellers, if it is not in it. */
const listSeller = async (
  { admin, isDry }: Restoring,
  { created_at, seller_id }: StoredItem,
): Promise<void> => {
  const item = { ...sellerListKey(String(created_at), String(seller_id)) };
  if (!isDry) await putMissing(admin.table, [item], admin.clock());
};

/** Returns a function that finds the secrets of a missing key in the live table, which it reads whole, once. */
export const liveSecretsOf = ({ admin: { table } }: Restoring) => {
  let reading: Promise<Map<string, [string, KeySecret][]>> | undefined;
  const readAll = async () => {
    const found: [string, KeySecret][] = [];
    await forEachPage(table, 'SECRET#', async (items) => {
      for (const item of items) {
        const { success, output } = v.safeParse(keySecretSchema, item);
        if (success) found.push([String(item.pk).slice(secretKey('').pk.length), output]);
      }
    });
    return Map.groupBy(found, ([, { key_id }]) => key_id);
  };
  return async (keyId: string): Promise<LiveSecrets> => {
    reading ??= readAll();
    return new Map((await reading).get(keyId));
  };
};

/** Puts the items that find the keys of a seller by their ids. */
const completeKeyIds = async (
  { admin, isDry, report }: Restoring,
  sellerId: string,
  keyIds: readonly string[],
) => {
  const items = keyIds.map((keyId) => ({ ...keyIdKey(keyId), seller_id: sellerId }));
  const present = await readItems(admin.table, items);
  const wrong = items.filter((item) => !isDeepStrictEqual(present(item), item));
  report.count('keys completed', wrong.length);
  if (!isDry) await putAll(admin.table, wrong);
};

/** Writes a key that is missing. Its secrets are valid if it is active. */
const putKey = async ({ admin }: Restoring, key: ApiKey, status: SellerStatus): Promise<void> => {
  const { table } = admin;
  const { name: TableName } = table;
  const { seller_id, key_id } = key;
  const items = [
    { Put: { TableName, Item: { ...apiKeyKey(seller_id, key_id), ...key }, ...ifAbsent } },
    { Put: { TableName, Item: { ...keyIdKey(key_id), seller_id } } },
    ...(key.status === 'pending' ? [] : secretUpdates(TableName, key, status)),
  ];
  await transact(table, items, admin.record({ action: 'key.restored', seller_id, key_id }));
};

/** Brings back the missing keys of a seller. A key that exists is never changed, but for one that the audit says was revoked. */
export const restoreKeys = async (
  restoring: Restoring,
  sellerId: string,
  { audit, liveSecrets }: { readonly audit: Audit; readonly liveSecrets: ReturnType<typeof liveSecretsOf> },
): Promise<void> => {
  const { admin, source, isDry, report } = restoring;
  const range = { pk: sellerKey(sellerId).pk, prefix: API_KEY_PREFIX };
  const present = new Map(
    (await queryAll(admin.table, range)).map((item) => [String(item.sk).slice(API_KEY_PREFIX.length), item]),
  );
  await completeKeyIds(restoring, sellerId, [...present.keys()]);
  const past = new Map((await apiKeyStore(source).listOf(sellerId)).map((key) => [key.key_id, key]));
  for (const [keyId, item] of present) {
    const { success, output } = v.safeParse(apiKeySchema, item);
    if (!success) report.list('key_older', keyId, sellerId);
    else if (output.status === 'active' && isRevoked(keyId, audit.all)) {
      report.list('key_revoked_again', keyId, sellerId);
      if (!isDry) await revokeKey(admin, keyId);
    } else if (output.status === 'active' && isOlder(output, past.get(keyId), audit.since)) {
      report.list('key_older', keyId, sellerId);
    }
  }
  for (const [key_id, old] of past) {
    const isGone = old.status === 'pending' && old.restored_at === undefined;
    if (isGone || present.has(key_id) || isRevoked(key_id, audit.all)) continue;
    const changes = audit.since?.filter(
      (record) => record.key_id === key_id && record.action !== 'key.restored',
    );
    const live = old.status === 'active' && changes?.length !== 0 ? await liveSecrets(key_id) : new Map();
    const key = restoredKey(old, { changes, live, now: admin.now() });
    report.count('keys');
    if (key.status === 'pending') report.list('key_pending', key_id, sellerId);
    if (!isDry) await putKey(restoring, key, (await requireSeller(admin, sellerId)).status);
  }
};

/** Brings back the registrations that are missing, unless the buyers were removed or erased since. */
export const restoreBuyers = ({ admin, source, isDry, report, erasures, signal }: Restoring): Promise<void> =>
  forEachPage(source, 'BUYER#', async (buyers) => {
    signal?.throwIfAborted();
    const isRemoved = ({ pk, buyer_id }: StoredItem): boolean =>
      erasures.hasPhone(String(pk).slice('BUYER#'.length)) || erasures.hasBuyer(buyer_id);
    const wanted = buyers.filter((buyer) => !isRemoved(buyer));
    if (isDry) {
      const present = await readItems(admin.table, wanted as never);
      report.count('buyers', wanted.filter((buyer) => present(buyer) === undefined).length);
      return;
    }
    const restored = await putMissing(admin.table, wanted, admin.clock());
    report.count('buyers', restored.length);
    await erasures.refresh();
    await deleteAll(admin.table, restored.filter(isRemoved));
  });
