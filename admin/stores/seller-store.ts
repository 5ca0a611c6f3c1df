import * as v from 'valibot';
import { auditPut, type NewAuditRecord } from '#shared/audit.ts';
import { sellerTemplatesSchema } from '#shared/sms/templates.ts';
import type { Table } from '#shared/table/client.ts';
import { ifEqual, setting, settingIfEqual } from '#shared/table/conditions.ts';
import { SELLERS_PARTITION, sellerKey, sellerListKey } from '#shared/table/keys.ts';
import { getItem, queryAll } from '#shared/table/reads.ts';
import type { TransactItem } from '#shared/table/writes.ts';
import { batchGetAll } from './batches.ts';
import { ifAbsent, transact } from './transactions.ts';

/** A seller as it is stored. Only an active seller's keys are valid. */
const sellerSchema = v.object({
  seller_id: v.string(),
  name: v.string(),
  status: v.picklist(['active', 'suspended']),
  /** The highest ordinal of its users. */
  user_count: v.number(),
  removed_count: v.number(),
  /** The number of the last event. */
  event_count: v.number(),
  created_at: v.string(),
  /** The templates of its own messages. */
  message_templates: v.optional(sellerTemplatesSchema),
  /** The time of a change after which the authorizer cache was not flushed yet. */
  unflushed_since: v.optional(v.string()),
});

export type Seller = v.InferOutput<typeof sellerSchema>;

export type SellerStatus = Seller['status'];

export const usersOf = ({ user_count, removed_count }: Seller): number => user_count - removed_count;

/** The attributes to set, and the one of them whose value must still be the one that was read. */
export interface SellerChange {
  readonly attributes: Partial<Seller>;
  readonly unchanged: 'name' | 'status' | 'message_templates';
}

const sellerIdOf = (listSortKey: string): string => listSortKey.slice(listSortKey.lastIndexOf('#') + 1);

/** The condition of a transaction that a seller has this status. */
export const ifSellerIs = ({ name }: Table, sellerId: string, status: SellerStatus): TransactItem => ({
  ConditionCheck: { TableName: name, Key: sellerKey(sellerId), ...ifEqual('status', status) },
});

const sellerReads = (table: Table) => ({
  async find(sellerId: string): Promise<Seller | undefined> {
    const item = await getItem(table, sellerKey(sellerId));
    return item && v.parse(sellerSchema, item);
  },

  /** Reads all sellers, oldest first. It queries a list of ids and does not scan the table. */
  async list(): Promise<Seller[]> {
    const ids = (await queryAll(table, { pk: SELLERS_PARTITION })).map(({ sk }) => sellerIdOf(String(sk)));
    const items = await batchGetAll(table, ids.map(sellerKey));
    const found = new Map(items.map((item) => [item.seller_id, v.parse(sellerSchema, item)]));
    return ids.flatMap((id) => found.get(id) ?? []);
  },
});

/** The writes return whether they were made. */
const sellerWrites = (table: Table) => {
  const { name: TableName } = table;

  return {
    /** Writes a new seller, its item in the list of all sellers, and the audit record. */
    async create(seller: Seller, record: NewAuditRecord): Promise<void> {
      const { seller_id, created_at } = seller;
      const items = [
        { Put: { TableName, Item: { ...sellerKey(seller_id), ...seller }, ...ifAbsent } },
        { Put: { TableName, Item: sellerListKey(created_at, seller_id) } },
      ];
      if (!(await transact(table, items, record))) throw new Error('a new seller id exists already');
    },

    /** Deletes a suspended seller without users, with its entry in the list. False: it has users or is active now. */
    remove({ seller_id, created_at }: Seller, records: readonly NewAuditRecord[]): Promise<boolean> {
      const Delete = {
        TableName,
        Key: sellerKey(seller_id),
        ConditionExpression: '#status = :suspended AND user_count = removed_count',
        ExpressionAttributeNames: { '#status': 'status' },
        ExpressionAttributeValues: { ':suspended': 'suspended' },
      };
      const entry = { Delete: { TableName, Key: sellerListKey(created_at, seller_id) } };
      return transact(table, [{ Delete }, entry, ...records.map((record) => auditPut(table, record))]);
    },

    /** Sets attributes of a seller. False: `attributes[unchanged]` has changed since the seller was read. */
    change(seen: Seller, { attributes, unchanged }: SellerChange, record: NewAuditRecord): Promise<boolean> {
      const value = seen[unchanged];
      const absent = `attribute_exists(pk) AND attribute_not_exists(#${unchanged})`;
      const update =
        value === undefined
          ? { ...setting(attributes), ConditionExpression: absent }
          : settingIfEqual(attributes, [unchanged, value]);
      return transact(table, [{ Update: { TableName, Key: sellerKey(seen.seller_id), ...update } }], record);
    },
  };
};

export const sellerStore = (table: Table) => ({ ...sellerReads(table), ...sellerWrites(table) });
