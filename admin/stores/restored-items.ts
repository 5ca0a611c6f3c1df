/** What a copy reads of two tables: the one that DynamoDB restored, and the live one. */
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
  sellerKey,
} from '#shared/table/keys.ts';
import { getItem, queryAll, queryPages } from '#shared/table/reads.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { countsFrom } from '#shared/users/user-change.ts';
import { batchGetAll } from './batches.ts';

/** Finds one of the items that were read, by its key. */
export type ItemAt = (key: StoredItem | ItemKey) => StoredItem | undefined;

export const readItems = async (table: Table, keys: readonly (StoredItem | ItemKey)[]): Promise<ItemAt> => {
  const distinct = new Map(keys.map(({ pk, sk }) => [`${pk} ${sk}`, { pk: String(pk), sk: String(sk) }]));
  const found = await batchGetAll(table, [...distinct.values()]);
  const byKey = new Map(found.map((item) => [`${item.pk} ${item.sk}`, item]));
  return ({ pk, sk }) => byKey.get(`${pk} ${sk}`);
};

/** The users of a seller that were removed since the restore point, by their events. */
export interface RemovalsSince {
  readonly byUser: ReadonlyMap<unknown, { readonly reason: unknown; readonly at: string }>;
  /** The highest number of an event. */
  readonly newest: number;
  /** Whether no event since the restore point is missing. */
  readonly isComplete: boolean;
}

/** Reads the events of the live table after the last one of the restored table. */
export const readRemovals = async (source: Table, live: Table, sellerId: string): Promise<RemovalsSince> => {
  const lastOf = async (table: Table) => countsFrom(await getItem(table, sellerKey(sellerId))).events;
  // The count is read before the events: those that are written meanwhile do not hide a missing one.
  const [after, until] = await Promise.all([lastOf(source), lastOf(live)]);
  const byUser = new Map<unknown, { reason: unknown; at: string }>();
  let [count, newest] = [0, 0];
  const between = [numberSortKey(after + 1), numberSortKey(MAX_ORDINAL)] as const;
  for await (const items of queryPages(live, { pk: eventsPartition(sellerId), between })) {
    for (const { sk, type, user_id, reason, occurred_at } of items) {
      newest = Number(sk);
      if (newest <= until) count += 1;
      if (type === 'user.removed') byUser.set(user_id, { reason, at: String(occurred_at) });
    }
  }
  return { byUser, newest, isComplete: count >= until - after };
};

const storedRecordSchema = v.object({
  ...auditRecordSchema.entries,
  sk: v.string(),
  phone_hashes: v.optional(v.array(v.string()), []),
});

const readAudit = async (table: Table) =>
  (await queryAll(table, { pk: auditPartition(DEPLOYMENT_SUBJECT) })).map((item) =>
    v.parse(storedRecordSchema, item),
  );

/** Whose data was removed since the restore point: `phones`, by their hashes, of erased buyers, and `buyers` whose registration was removed. */
export interface Erasures {
  readonly phones: ReadonlySet<unknown>;
  readonly buyers: ReadonlySet<unknown>;
}

/** Returns a function that reads the erasures by the audit records that the restored table lacks, and by the phones that were `named`. */
export const erasureReader = async (source: Table, live: Table, named: readonly KeyedHash[]) => {
  const past = new Set((await readAudit(source)).map(({ sk }) => sk));
  return async (): Promise<Erasures> => {
    const added = (await readAudit(live)).filter(({ sk }) => !past.has(sk));
    const phones = [
      ...named.flatMap((phone) => phone.keys((hash) => hash)),
      ...added.flatMap(({ phone_hashes }) => phone_hashes),
    ];
    const last = new Map(added.map(({ action, details }) => [details.buyer_id, action]));
    const removed = [...last].filter(([, action]) => action === 'buyer.removed').map(([id]) => id);
    return { phones: new Set(phones), buyers: new Set(removed) };
  };
};
