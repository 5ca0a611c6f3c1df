/** What a restore reads of two tables: the one that DynamoDB restored, and the live one. */
import * as v from 'valibot';
import { type AuditRecord, auditRecordSchema } from '#shared/audit.ts';
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
import { getItem, queryAll, queryFirst, queryPages } from '#shared/table/reads.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { totalOf } from '#shared/users/removals.ts';
import { ordinalOf } from '#shared/users/user-id.ts';
import { batchGetAll, putAll } from './batches.ts';

const keyText = ({ pk, sk }: StoredItem | ItemKey): string => `${pk} ${sk}`;

/** Reads items by their keys. Returns a function that finds one of them. */
export const readItems = async (table: Table, keys: readonly ItemKey[]) => {
  const distinct = new Map(keys.map(({ pk, sk }) => [keyText({ pk, sk }), { pk, sk }]));
  const found = await batchGetAll(table, [...distinct.values()]);
  const byKey = new Map(found.map((item) => [keyText(item), item]));
  return (key: StoredItem | ItemKey): StoredItem | undefined => byKey.get(keyText(key));
};

/** Writes the items that a table does not have, unless they expired. Nobody else may write to them. Returns them. */
export const putMissing = async (
  table: Table,
  items: readonly StoredItem[],
  nowMs: number,
): Promise<StoredItem[]> => {
  const present = await readItems(table, items as readonly (StoredItem & ItemKey)[]);
  const missing = items.filter(
    (item) => present(item) === undefined && Number(item.ttl ?? Number.POSITIVE_INFINITY) * 1000 > nowMs,
  );
  await putAll(table, missing);
  return missing;
};

/** Copies what the past of a seller leaves and no damage takes: its events, tombstones and index of removals. */
export const copyHistory = async (
  source: Table,
  live: Table,
  sellerId: string,
  nowMs: number,
): Promise<void> => {
  const partitions = [
    tombstoneKey(sellerId, 0).pk,
    removalSummaryKey(sellerId).pk,
    eventsPartition(sellerId),
  ];
  for (const pk of partitions) {
    for await (const items of queryPages(source, { pk })) await putMissing(live, items, nowMs);
  }
};

/** The last event of a user since the restore point. */
export interface LastEvent {
  readonly sequence: number;
  readonly isRemoval: boolean;
}

/** The events of a seller after a number, read as far as its counts go. */
export const eventsAfter = (table: Table, sellerId: string, restored: number) => {
  const last = new Map<string, LastEvent>();
  const ids = new Map<number, string>();
  let read = restored;
  let oldest = Number.POSITIVE_INFINITY;
  return {
    lastOf: (userId: string): LastEvent | undefined => last.get(userId),
    /** The user with a last event and this ordinal. */
    idAt: (ordinal: number): string | undefined => ids.get(ordinal),
    highestOrdinal: (): number => ids.keys().reduce((highest, ordinal) => Math.max(highest, ordinal), 0),
    /** The numbers of those that expired: after the first, before the second. */
    expired: (): readonly [number, number] => [restored, Math.min(oldest, read + 1)],
    async readTo(count: number): Promise<void> {
      if (count <= read) return;
      const between = [numberSortKey(read + 1), numberSortKey(count)] as const;
      for (const { sk, user_id, type } of await queryAll(table, { pk: eventsPartition(sellerId), between })) {
        const id = String(user_id);
        oldest = Math.min(oldest, Number(sk));
        last.set(id, { sequence: Number(sk), isRemoval: type === 'user.removed' });
        ids.set(ordinalOf(id) ?? 0, id);
      }
      read = count;
    },
  };
};

export type EventsAfter = ReturnType<typeof eventsAfter>;

const newestNumber = async (table: Table, pk: string): Promise<number> => {
  const [newest] = await queryFirst(table, { pk, newestFirst: true }, 1);
  return Number(newest?.sk ?? 0);
};

/** Reads the highest numbers that the items of a seller have. The highest ordinal may also be that of an event. */
export const readFloor = async (table: Table, sellerId: string) => {
  const [users, tombstones, events, summary] = await Promise.all([
    newestNumber(table, usersPartition(sellerId)),
    newestNumber(table, tombstoneKey(sellerId, 0).pk),
    newestNumber(table, eventsPartition(sellerId)),
    getItem(table, removalSummaryKey(sellerId)),
  ]);
  const removed = totalOf((summary?.removed_counts as Uint8Array | undefined) ?? new Uint8Array());
  return { user_count: Math.max(users, tombstones), removed_count: removed, event_count: events };
};

/** The audit of a seller or the deployment: all records of the live table, and those since. */
export interface Audit {
  readonly all: readonly AuditRecord[];
  /** Undefined: the live table does not go on from the restored one, so nobody knows. */
  readonly since: readonly AuditRecord[] | undefined;
  /** The time of the newest record of the restored table. */
  readonly restoredAt: string;
}

export const readAudit = async (source: Table, live: Table, subject: string): Promise<Audit> => {
  const pk = auditPartition(subject);
  const [past, present] = await Promise.all([queryAll(source, { pk }), queryAll(live, { pk })]);
  const isPast = new Set(past.map(({ sk }) => sk));
  const newest = past.findLast(({ ttl }) => ttl === undefined);
  const isContinued = present.some(({ sk }) => newest === undefined || sk === newest.sk);
  const parsed = (items: readonly StoredItem[]) => items.map((item) => v.parse(auditRecordSchema, item));
  return {
    all: parsed(present),
    since: isContinued ? parsed(present.filter(({ sk }) => !isPast.has(sk))) : undefined,
    restoredAt: String(past.at(-1)?.at ?? ''),
  };
};
