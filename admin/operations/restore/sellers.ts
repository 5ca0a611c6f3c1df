/** The sellers and their keys in a restore: what is missing comes back, unless the audit says otherwise. */
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { requireSeller } from '#admin/administration.ts';
import { revokeKey } from '#admin/operations/change-key.ts';
import { setSellerStatus } from '#admin/operations/sellers.ts';
import { apiKeyStore } from '#admin/stores/api-key-store.ts';
import { forEachPage } from '#admin/stores/batches.ts';
import { type Audit, eventsAfter, readFloor } from '#admin/stores/restored-items.ts';
import { ifAbsent, transact } from '#admin/stores/transactions.ts';
import {
  type ApiKey,
  apiKeySchema,
  type KeySecret,
  keySecretSchema,
  type SecretSummary,
  secretUpdates,
} from '#shared/api-keys/api-key-item.ts';
import type { NewAuditRecord } from '#shared/audit.ts';
import type { Table } from '#shared/table/client.ts';
import { settingIfEqual } from '#shared/table/conditions.ts';
import {
  API_KEY_PREFIX,
  apiKeyKey,
  eventsPartition,
  keyIdKey,
  removalSummaryKey,
  secretKey,
  sellerKey,
  sellerListKey,
  tombstoneKey,
} from '#shared/table/keys.ts';
import { getItem, queryAll, queryPages } from '#shared/table/reads.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { countsFrom } from '#shared/users/user-change.ts';
import type { Restoring } from './restoring.ts';
import type { SellerRun } from './users.ts';

/** Returns a seller with the status and the name that its audit tells of. */
const explained = (seller: StoredItem, audit: readonly NewAuditRecord[]): StoredItem => {
  const status = audit.findLast(({ action }) => /^seller\.(?:suspended|resumed)$/.test(action))?.action;
  const name = audit.findLast(({ action }) => action === 'seller.renamed')?.details?.to;
  return {
    ...seller,
    ...(status && { status: status === 'seller.suspended' ? 'suspended' : 'active' }),
    ...(name === undefined ? {} : { name }),
  };
};

/** Copies what the past of a seller leaves and no damage takes: its events, tombstones and index of removals, unless they expired. */
const copyHistory = async ({ admin, source, complete }: Restoring, sellerId: string): Promise<void> => {
  const history = [tombstoneKey(sellerId, 0).pk, removalSummaryKey(sellerId).pk, eventsPartition(sellerId)];
  for (const pk of history) {
    for await (const items of queryPages(source, { pk })) {
      const kept = items.filter(({ ttl }) => ttl === undefined || Number(ttl) * 1000 > admin.clock());
      await complete('removals and events', kept, true);
    }
  }
};

/** Reads the items of a seller's keys, which may be damaged, by their ids. */
const readKeys = async (table: Table, sellerId: string): Promise<Map<string, StoredItem>> => {
  const items = await queryAll(table, { pk: sellerKey(sellerId).pk, prefix: API_KEY_PREFIX });
  return new Map(items.map((item) => [String(item.sk).slice(API_KEY_PREFIX.length), item]));
};

/** Brings back a seller that is missing, with its past; raises the counts of one that has them too low. */
export const restoreSeller = async (run: Restoring, sellerId: string, audit: Audit): Promise<SellerRun> => {
  const { admin, table, source, change } = run;
  const Key = sellerKey(sellerId);
  // A seller that was created since has no past: only what is derived from its users comes back.
  const old = await getItem(source, Key);
  if ((await getItem(table, Key)) === undefined) await copyHistory(run, sellerId);
  const events = eventsAfter(table, sellerId, countsFrom(old).events);
  const floor = await readFloor(table, sellerId, events);
  const live = await getItem(table, Key);
  const wanted = explained(old ?? live ?? {}, audit.all);
  const known = live ?? wanted;
  const counts = Object.fromEntries(
    Object.entries(floor).map(([name, least]) => {
      return [name, Math.max(least, Number(known[name]), Number(old?.[name] ?? 0))];
    }),
  );
  const seller: StoredItem = { ...known, ...counts };
  const record = admin.record({ action: 'seller.restored', seller_id: sellerId });
  const put = { Put: { TableName: table.name, Item: seller, ...ifAbsent } };
  const raised = settingIfEqual(counts, ['event_count', known.event_count]);
  const raise = { Update: { TableName: table.name, Key, ...raised } };
  const isLow = live !== undefined && !isDeepStrictEqual(seller, live);
  if (live === undefined) await change('sellers', 1, () => transact(table, [put], record));
  else if (!(await change('counts raised', Number(isLow), () => transact(table, [raise])))) {
    return restoreSeller(run, sellerId, audit);
  }
  const keyIds = [...(await readKeys(table, sellerId)).keys()];
  const found = keyIds.map((keyId) => ({ ...keyIdKey(keyId), seller_id: sellerId }));
  await run.complete('lists completed', [
    { ...sellerListKey(String(seller.created_at), sellerId) },
    ...found,
  ]);
  const isUnknown = audit.added.some(({ action }) => action === 'seller.templates_set');
  const isWrong = (name: string): boolean => !isDeepStrictEqual(wanted[name], seller[name]);
  if (isUnknown || ['name', 'status', 'message_templates'].some(isWrong)) {
    run.list('seller_differs', sellerId, sellerId);
  }
  if (seller.status === 'active' && explained(seller, audit.all).status === 'suspended') {
    await change('sellers suspended again', 1, () => setSellerStatus(admin, sellerId, 'suspended'));
  }
  return { ...run, sellerId, seller, users: countsFrom(seller).users, events };
};

/** The item of a secret in the live table, and its hash. */
type LiveSecret = readonly [hash: string, item: KeySecret];

/** Reads the secrets of all keys, each with its hash, by the ids of their keys. Nothing else finds those of a missing key. */
const readSecrets = async (table: Table) => {
  const found: LiveSecret[] = [];
  await forEachPage(table, [secretKey('').sk], async (items) => {
    for (const item of items) {
      const hash = String(item.pk).slice(secretKey('').pk.length);
      if (v.is(keySecretSchema, item)) found.push([hash, item]);
    }
  });
  return Map.groupBy(found, ([, { key_id }]) => key_id);
};

/** Returns a missing key that may have changed since: an admin confirms it. After a rotation, its secrets are those of the live table. */
const pendingKey = (old: ApiKey, changes: readonly NewAuditRecord[], live: readonly LiveSecret[]): ApiKey => {
  const rotations = changes.filter(({ action }) => action === 'key.rotated');
  const first = Number(old.secrets[0]?.number) + 1;
  const secrets = live.map(([hash, { number, expires_at }]): SecretSummary => {
    const { at, actor, details } = rotations[number - first] ?? {};
    return {
      prefix: String(old.secrets[0]?.prefix),
      last_four: String(details?.last_four),
      created_at: String(at),
      created_by: actor?.startsWith('key:') ? 'seller' : 'admin',
      ...old.secrets.find((secret) => secret.hash === hash),
      ...{ hash, number, ...(expires_at === undefined ? {} : { ends_at: expires_at }) },
    };
  });
  const { scopes, plan, limits } = live[0]?.[1] ?? old;
  const current = rotations.length === 0 ? old.secrets : secrets.sort((a, b) => b.number - a.number);
  return { ...old, scopes, plan, limits, secrets: current, status: 'pending' };
};

/** Writes a key that is missing. Its secrets are valid if it is active. */
const putKey = async ({ admin, table }: Restoring, key: ApiKey): Promise<boolean> => {
  const { seller_id, key_id } = key;
  const { status } = await requireSeller(admin, seller_id);
  const items = [
    { Put: { TableName: table.name, Item: { ...apiKeyKey(seller_id, key_id), ...key }, ...ifAbsent } },
    { Put: { TableName: table.name, Item: { ...keyIdKey(key_id), seller_id } } },
    ...(key.status === 'active' ? secretUpdates(table.name, key, status) : []),
  ];
  return transact(table, items, admin.record({ action: 'key.restored', seller_id, key_id }));
};

/** Restores the keys of sellers. A key that exists is not changed, but for one that the audit says was revoked. */
export const restoreKeys = async (run: Restoring, audits: ReadonlyMap<string, Audit>): Promise<void> => {
  const { admin, table, source, change, list } = run;
  let secrets: ReturnType<typeof readSecrets> | undefined;
  for (const [sellerId, { all, added, isContinued }] of audits) {
    const present = await readKeys(table, sellerId);
    const past = new Map((await apiKeyStore(source).listOf(sellerId)).map((key) => [key.key_id, key]));
    for (const keyId of new Set([...present.keys(), ...past.keys()])) {
      const [old, item] = [past.get(keyId), present.get(keyId)];
      const isChange = ({ key_id, action }: NewAuditRecord) =>
        key_id === keyId && /^key\.(?!restored)/.test(action);
      const changes = added.filter(isChange);
      const isRevoked = all.filter(isChange).some(({ action }) => /revoked|withdrawn/.test(action));
      const isActive = item?.status === 'active';
      const isOlder = Number(item?.version) < Number(old?.version) + Math.sign(changes.length);
      const isWanted = old?.status === 'active' || old?.restored_at !== undefined;
      if (item !== undefined && !v.is(apiKeySchema, item)) list('key_older', keyId, sellerId);
      else if (isActive && isRevoked) await change('keys revoked again', 1, () => revokeKey(admin, keyId));
      else if (isActive && isOlder) list('key_older', keyId, sellerId);
      else if (item === undefined && isWanted && !isRevoked) {
        const isCertain = old.status === 'active' && isContinued && changes.length === 0;
        if (!isCertain) list('key_pending', keyId, sellerId);
        if (!isCertain) secrets ??= readSecrets(table);
        const live = (await secrets)?.get(keyId) ?? [];
        const pending = { ...pendingKey(old, isContinued ? changes : [], live), restored_at: admin.now() };
        await change('keys', 1, () => putKey(run, isCertain ? old : pending));
      }
    }
  }
};
