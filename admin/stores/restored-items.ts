/** What a restore reads of two tables: the one that DynamoDB restored, and the live one. */
import * as v from 'valibot';
import { auditRecordSchema, DEPLOYMENT_SUBJECT } from '#shared/audit.ts';
import type { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import type { Table } from '#shared/table/client.ts';
import {
  auditPartition,
  eventsPartition,
  type ItemKey,
  MAX_ORDINAL,
  numberSortKey,
  removalSummaryKey,
  tombstoneKey,
  usersPartition,
} from '#shared/table/keys.ts';
import { getItem, queryAll, queryFirst, queryPages } from '#shared/table/reads.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { totalOf } from '#shared/users/removals.ts';
import { batchGetAll } from './batches.ts';

/** Finds one of the items that were read, by its key. */
export type ItemAt = (key: StoredItem | ItemKey) => StoredItem | undefined;

/** Reads items by their keys. */
export const readItems = async (table: Table, keys: readonly (StoredItem | ItemKey)[]): Promise<ItemAt> => {
  const distinct = new Map(keys.map(({ pk, sk }) => [`${pk} ${sk}`, { pk: String(pk), sk: String(sk) }]));
  const found = await batchGetAll(table, [...distinct.values()]);
  const byKey = new Map(found.map((item) => [`${item.pk} ${item.sk}`, item]));
  return ({ pk, sk }) => byKey.get(`${pk} ${sk}`);
};

/** Reads the events of a seller after a number. `isComplete`: none is missing up to the number `until`. */
export const readEvents = async (
  table: Table,
  sellerId: string,
  { after, until }: { readonly after: number; readonly until: number },
) => {
  const [removed, updated] = [new Set<unknown>(), new Set<unknown>()];
  let count = 0;
  const between = [numberSortKey(after + 1), numberSortKey(MAX_ORDINAL)] as const;
  for await (const items of queryPages(table, { pk: eventsPartition(sellerId), between })) {
    for (const { sk, type, user_id } of items) {
      if (Number(sk) <= until) count += 1;
      if (type === 'user.removed') removed.add(user_id);
      if (type === 'user.updated') updated.add(user_id);
    }
  }
  return { removed, updated, isComplete: count >= until - after };
};

export type Events = Awaited<ReturnType<typeof readEvents>>;

const newestNumber = async (table: Table, pk: string): Promise<number> => {
  const [newest] = await queryFirst(table, { pk, newestFirst: true }, 1);
  return Number(newest?.sk ?? 0);
};

/** Reads the lowest counts that the items of a seller allow. `removed_count` is undefined if nothing of its removals is left. */
export const readLeastCounts = async (table: Table, sellerId: string) => {
  const [users, tombstones, event_count, summary] = await Promise.all([
    newestNumber(table, usersPartition(sellerId)),
    newestNumber(table, tombstoneKey(sellerId, 0).pk),
    newestNumber(table, eventsPartition(sellerId)),
    getItem(table, removalSummaryKey(sellerId)),
  ]);
  const removed_count = summary && totalOf(summary.removed_counts as Uint8Array);
  return { user_count: Math.max(users, tombstones), removed_count, event_count };
};

export type LeastCounts = Awaited<ReturnType<typeof readLeastCounts>>;

const storedRecordSchema = v.object({
  ...auditRecordSchema.entries,
  sk: v.string(),
  phone_hashes: v.optional(v.array(v.string()), []),
});

/** Reads the audit of a seller or the deployment: `all` records of the live table, and those `added` since the restore point, oldest first. */
export const readAudit = async (source: Table, live: Table, subject: string) => {
  const read = async (table: Table) =>
    (await queryAll(table, { pk: auditPartition(subject) })).map((item) => v.parse(storedRecordSchema, item));
  const [past, all] = await Promise.all([read(source), read(live)]);
  const isPast = new Set(past.map(({ sk }) => sk));
  return {
    all,
    added: all.filter(({ sk }) => !isPast.has(sk)),
    /** The time of the newest record of the restored table. */
    restoredAtMs: Date.parse(past.at(-1)?.at ?? '1970'),
  };
};

export type Audit = Awaited<ReturnType<typeof readAudit>>;

/** Reads whose data was removed since the restore point: `phones`, by their hashes, of erased buyers, and `buyers` whose registration was removed. */
export const readErasures = async (source: Table, live: Table, named: readonly KeyedHash[] = []) => {
  const { added } = await readAudit(source, live, DEPLOYMENT_SUBJECT);
  const phones = [
    ...named.flatMap((phone) => phone.keys((hash) => hash)),
    ...added.flatMap(({ phone_hashes }) => phone_hashes),
  ];
  const last = new Map(added.map(({ action, details }) => [details.buyer_id, action]));
  const removed = [...last].filter(([, action]) => action === 'buyer.removed').map(([id]) => id);
  return { phones: new Set<unknown>(phones), buyers: new Set<unknown>(removed) };
};

export type Erasures = Awaited<ReturnType<typeof readErasures>>;
