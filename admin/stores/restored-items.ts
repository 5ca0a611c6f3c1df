/** What a restore reads of two tables: the one that DynamoDB restored, and the live one. */
import type { NewAuditRecord } from '#shared/audit.ts';
import type { Table } from '#shared/table/client.ts';
import {
  auditPartition,
  eventsPartition,
  type ItemKey,
  numberSortKey,
  removalSummaryKey,
  tombstoneKey,
  usersPartition,
} from '#shared/table/keys.ts';
import { getItem, queryAll, queryFirst } from '#shared/table/reads.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { totalOf } from '#shared/users/removals.ts';
import { ordinalOf } from '#shared/users/user-id.ts';
import { batchGetAll } from './batches.ts';

/** Reads items by their keys. Returns a function that finds one of them. */
export const readItems = async (table: Table, keys: readonly (StoredItem | ItemKey)[]) => {
  const distinct = new Map(keys.map(({ pk, sk }) => [`${pk} ${sk}`, { pk: String(pk), sk: String(sk) }]));
  const found = await batchGetAll(table, [...distinct.values()]);
  const byKey = new Map(found.map((item) => [`${item.pk} ${item.sk}`, item]));
  return ({ pk, sk }: StoredItem | ItemKey): StoredItem | undefined => byKey.get(`${pk} ${sk}`);
};

/** The events of a seller after a number, read as far as its counts go. */
export const eventsAfter = (table: Table, sellerId: string, restored: number) => {
  const last = new Map<number, StoredItem>();
  let read = restored;
  return {
    /** The last event at each ordinal. */
    last: last as ReadonlyMap<number, StoredItem>,
    /** Whether the change that a user names as its last one is the last of these events, or one that expired. */
    explains({ sk, last_event }: StoredItem): boolean {
      const at = Number(last_event);
      const known = last.get(Number(sk));
      return known === undefined ? at > restored && at <= read : at === Number(known.sk);
    },
    async readTo(count: number): Promise<void> {
      if (count <= read) return;
      const between = [numberSortKey(read + 1), numberSortKey(count)] as const;
      const items = await queryAll(table, { pk: eventsPartition(sellerId), between });
      for (const item of items) last.set(ordinalOf(String(item.user_id)) ?? 0, item);
      read = count;
    },
  };
};

export type EventsAfter = ReturnType<typeof eventsAfter>;

const newestNumber = async (table: Table, pk: string): Promise<number> => {
  const [newest] = await queryFirst(table, { pk, newestFirst: true }, 1);
  return Number(newest?.sk ?? 0);
};

/** Reads the lowest counts that the items of a seller allow, and its events so far. */
export const readFloor = async (table: Table, sellerId: string, events: EventsAfter) => {
  const [users, tombstones, event_count, summary] = await Promise.all([
    newestNumber(table, usersPartition(sellerId)),
    newestNumber(table, tombstoneKey(sellerId, 0).pk),
    newestNumber(table, eventsPartition(sellerId)),
    getItem(table, removalSummaryKey(sellerId)),
  ]);
  await events.readTo(event_count);
  const user_count = events.last.keys().reduce((a, b) => Math.max(a, b), Math.max(users, tombstones));
  const removed_count = totalOf((summary?.removed_counts as Uint8Array | undefined) ?? new Uint8Array());
  return { user_count, removed_count, event_count };
};

/** Reads the audit of a seller or the deployment: `all` records of the live table, and those `added` since the restore point. */
export const readAudit = async (source: Table, live: Table, subject: string) => {
  const pk = auditPartition(subject);
  const read = async (table: Table): Promise<readonly (NewAuditRecord & ItemKey)[]> =>
    (await queryAll(table, { pk })) as never;
  const [past, all] = await Promise.all([read(source), read(live)]);
  const isPast = new Set(past.map(({ sk }) => sk));
  const newest = past.findLast(({ ttl }) => ttl === undefined);
  return {
    all,
    added: all.filter(({ sk }) => !isPast.has(sk)),
    /** Whether the live table goes on from the restored one. If not, nobody knows what was done since. */
    isContinued: newest === undefined ? all.length > 0 : all.some(({ sk }) => sk === newest.sk),
    /** The time of the newest record of the restored table. */
    restoredAtMs: Date.parse(past.at(-1)?.at ?? '1970'),
  };
};

export type Audit = Awaited<ReturnType<typeof readAudit>>;
