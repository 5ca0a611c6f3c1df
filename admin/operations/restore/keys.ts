/** The keys of a seller in a restore. One that is missing comes back as pending: nobody knows whether it was revoked since. */
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { apiKeyStore } from '#admin/stores/api-key-store.ts';
import { SEGMENTS, scanSegment } from '#admin/stores/batches.ts';
import {
  type ApiKey,
  apiKeySchema,
  type KeySecret,
  keySecretSchema,
  type SecretSummary,
} from '#shared/api-keys/api-key-item.ts';
import type { NewAuditRecord } from '#shared/audit.ts';
import type { Table } from '#shared/table/client.ts';
import { API_KEY_PREFIX, apiKeyKey, keyIdKey, secretKey, sellerKey } from '#shared/table/keys.ts';
import { getItem, queryAll } from '#shared/table/reads.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import type { State } from './restoring.ts';
import type { SellerRun } from './sellers.ts';

/** Reads the items of a seller's keys, which may be damaged, by their ids. */
const readKeys = async (table: Table, sellerId: string): Promise<Map<string, StoredItem>> => {
  const items = await queryAll(table, { pk: sellerKey(sellerId).pk, prefix: API_KEY_PREFIX });
  return new Map(items.map((item) => [String(item.sk).slice(API_KEY_PREFIX.length), item]));
};

/** The item of a secret in the live table, and its hash. */
type LiveSecret = readonly [hash: string, item: KeySecret];

/** Reads the secrets of the live table by the ids of their keys. Nothing else finds those of a missing key. */
const readSecrets = async (table: Table): Promise<Map<string, LiveSecret[]>> => {
  const found: LiveSecret[] = [];
  for (let segment = 0; segment < SEGMENTS; segment += 1) {
    for await (const items of scanSegment(table, segment, [['sk', secretKey('').sk]])) {
      for (const item of items) {
        const hash = String(item.pk).slice(secretKey('').pk.length);
        if (v.is(keySecretSchema, item)) found.push([hash, item]);
      }
    }
  }
  return Map.groupBy(found, ([, { key_id }]) => key_id);
};

/** Returns the secrets of a key that was rotated since: those of the live table, so that none is valid again whose end has come. */
const secretsSince = (old: ApiKey, rotations: readonly NewAuditRecord[], live: readonly LiveSecret[]) => {
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
  return secrets.sort((a, b) => b.number - a.number);
};

/** Puts a key that is missing, as pending: `keys confirm` makes its secrets valid. */
const copyKey = async ({ admin, table, write, put }: SellerRun, old: ApiKey): Promise<void> => {
  const { seller_id, key_id } = old;
  const key: ApiKey = { ...old, status: 'pending', restored_at: admin.now() };
  const isFound = (await getItem(table, keyIdKey(key_id))) !== undefined;
  const items = [
    { ...apiKeyKey(seller_id, key_id), ...key },
    ...(isFound ? [] : [{ ...keyIdKey(key_id), seller_id }]),
  ];
  await write(items.map(put), admin.record({ action: 'key.restored', seller_id, key_id }));
};

/** What the audit of the live table tells of a key: the changes since the restore point, and whether it was ever revoked. */
const historyOf = ({ audit }: SellerRun, keyId: string) => {
  const isChange = ({ key_id, action }: NewAuditRecord) => key_id === keyId && action.startsWith('key.');
  const changes = audit.added.filter(isChange);
  return {
    changes,
    /** Each change has raised the version, but a copy begins again with that of the restored table. */
    raised: changes.length - changes.findLastIndex(({ action }) => action === 'key.restored') - 1,
    isRevoked: audit.all.filter(isChange).some(({ action }) => /revoked|withdrawn/.test(action)),
  };
};

/** Decides on a key that exists. */
const presentStates = (seller: SellerRun, item: StoredItem, old: ApiKey | undefined): State[] => {
  const { changes, raised, isRevoked } = historyOf(seller, String(item.sk).slice(API_KEY_PREFIX.length));
  if (!v.is(apiKeySchema, item)) return ['differs'];
  if (item.status !== 'active') return [];
  if (isRevoked) return ['key_revoked'];
  if (old === undefined) return [];
  if (item.version < old.version + raised) return ['key_older'];
  const { unflushed_since: _, ...own } = v.parse(apiKeySchema, item);
  const { unflushed_since: __, ...past } = old;
  if (isDeepStrictEqual(own, past)) return [];
  return [changes.length > 0 ? 'changed' : 'differs'];
};

/** Compares the item that finds a key by its id, and puts it if it is missing. */
const restoreKeyId = async (
  { table, isCopy, write, put, sellerId }: SellerRun,
  keyId: string,
): Promise<State[]> => {
  if ((await getItem(table, keyIdKey(keyId))) !== undefined) return [];
  if (isCopy) await write([put({ ...keyIdKey(keyId), seller_id: sellerId })]);
  return [isCopy ? 'completed' : 'incomplete'];
};

/** A key of the restored table, its item in the live one, and what finds the secrets of a missing key there. */
interface KeyPair {
  readonly item: StoredItem | undefined;
  readonly old: ApiKey | undefined;
  readonly secretsOf: (keyId: string) => Promise<readonly LiveSecret[]>;
}

const restoreKey = async (
  seller: SellerRun,
  keyId: string,
  { item, old, secretsOf }: KeyPair,
): Promise<State[]> => {
  if (item !== undefined)
    return [...presentStates(seller, item, old), ...(await restoreKeyId(seller, keyId))];
  const isWanted = old?.status === 'active' || old?.restored_at !== undefined;
  if (old === undefined || !isWanted) return [];
  const { changes, isRevoked } = historyOf(seller, keyId);
  if (isRevoked) return ['removed'];
  if (!seller.isCopy) return ['missing', 'key_pending'];
  const rotations = changes.filter(({ action }) => action === 'key.rotated');
  const secrets = rotations.length === 0 ? old.secrets : secretsSince(old, rotations, await secretsOf(keyId));
  await copyKey(seller, { ...old, secrets });
  return ['copied', 'key_pending'];
};

/** Compares the keys of sellers, and copies those that are missing and were not revoked since. */
export const restoreKeys = async (sellers: Iterable<SellerRun>): Promise<void> => {
  let secrets: ReturnType<typeof readSecrets> | undefined;
  for (const seller of sellers) {
    const { table, source, sellerId, report, check } = seller;
    const secretsOf = async (keyId: string): Promise<readonly LiveSecret[]> => {
      secrets ??= readSecrets(table);
      return (await secrets).get(keyId) ?? [];
    };
    const present = await readKeys(table, sellerId);
    const past = new Map((await apiKeyStore(source).listOf(sellerId)).map((key) => [key.key_id, key]));
    for (const id of new Set([...present.keys(), ...past.keys()])) {
      check();
      const pair = { item: present.get(id), old: past.get(id), secretsOf };
      for (const state of await restoreKey(seller, id, pair))
        report.add({ kind: 'key', state, sellerId, id });
    }
  }
};
